//! Holds the durations of the protocol (leases, claims, waits), for each engine.

use std::time::Duration;

/// The lengths of time of one engine. A holder uses four fifths of what it was given ([`usable`]).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Timing {
    /// How long the lease lasts without a renewal.
    pub lease: Duration,
    /// How long after a renewal its holder renews it.
    pub renew: Duration,
    /// How long before it is due the first machine claims a delivery.
    pub ahead: Duration,
    /// How much later each next machine does, and takes over what has run out.
    pub stagger: Duration,
    /// How long a claim lasts after its delivery is due, or after now where that is past.
    pub claim: Duration,
    /// The entries are read at least this often: a little later than a multiple of `renew`.
    pub look: Duration,
    /// A machine says at least this often that it is there.
    pub presence: Duration,
}

/// A machine that wrote nothing for this long counts as away. The voice, which acts on it, sees all entries each `renew`.
pub const AWAY: Duration = Duration::from_secs(600);

/// How much of a lease or claim its holder uses: the last fifth belongs to clocks that differ in speed, and to what is on
/// its way.
pub fn usable(length: Duration) -> Duration {
    length.saturating_mul(4) / 5
}

impl Timing {
    /// The longest time between two looks of a machine that can look: the answer to one may come late.
    pub fn pause(&self) -> Duration {
        self.look + Duration::from_secs(15)
    }

    /// Over a git server: few requests.
    pub const GIT: Timing = Timing {
        lease: Duration::from_secs(300),
        renew: Duration::from_secs(100),
        ahead: Duration::from_secs(60),
        stagger: Duration::from_secs(20),
        claim: Duration::from_secs(240),
        look: Duration::from_secs(310),
        presence: Duration::from_secs(315),
    };

    /// Over etcd: a request costs milliseconds.
    pub const ETCD: Timing = Timing {
        lease: Duration::from_secs(15),
        renew: Duration::from_secs(5),
        ahead: Duration::from_secs(60),
        stagger: Duration::from_secs(3),
        claim: Duration::from_secs(25),
        look: Duration::from_secs(5),
        presence: Duration::from_secs(240),
    };
}

//! The box on macOS: `sandbox-exec` with a profile of the same rules.
//!
//! The profile is made by a pure function, which is tested everywhere; the rest is small, since it was never run where
//! this was written. There is no way to find processes that left the command's group, nor to count what a command uses:
//! the box is partial, and says so.

#![cfg_attr(not(target_os = "macos"), allow(dead_code))]

use std::path::Path;

use super::Policy;

/// What programs need of the system.
const SYSTEM: [&str; 9] = [
    "/bin",
    "/sbin",
    "/usr",
    "/System",
    "/Library/Apple",
    "/Library/Developer/CommandLineTools",
    "/opt/homebrew",
    "/private/etc/ssl",
    "/private/var/db/dyld",
];

/// The profile of a policy, in Seatbelt's language. `program` is this program's own file.
pub(super) fn profile(policy: &Policy, program: &Path) -> String {
    let mut text = String::from(
        "(version 1)\n(deny default)\n(allow process-fork)\n(allow signal (target same-sandbox))\n(allow sysctl-read)\n\
         (allow file-read-metadata)\n",
    );
    let read = SYSTEM.iter().map(Path::new).chain(policy.read.iter().map(std::path::PathBuf::as_path));
    for path in read.chain([program, &policy.write]) {
        let path = quoted(path);
        text.push_str(&format!("(allow file-read* process-exec (subpath {path}))\n"));
    }
    for file in [
        "/",
        "/private/etc/passwd",
        "/private/etc/group",
        "/private/etc/localtime",
        "/dev/random",
        "/dev/urandom",
    ] {
        text.push_str(&format!("(allow file-read* (literal {}))\n", quoted(Path::new(file))));
    }
    text.push_str("(allow file-read* file-write-data (literal \"/dev/null\") (literal \"/dev/zero\") (regex #\"^/dev/fd/\"))\n");
    text.push_str(&format!("(allow file-write* (subpath {}))\n", quoted(&policy.write)));
    if policy.network {
        text.push_str("(allow network-outbound (remote ip))\n(allow system-socket)\n(allow mach-lookup (global-name \"com.apple.dnssd.service\"))\n(allow network-outbound (literal \"/private/var/run/mDNSResponder\"))\n");
    }
    text
}

/// A path as a string of the profile's language.
fn quoted(path: &Path) -> String {
    let escaped = path.to_string_lossy().replace('\\', "\\\\").replace('"', "\\\"");
    format!("\"{escaped}\"")
}

#[cfg(target_os = "macos")]
pub(super) fn supervise() -> u8 {
    super::macos_supervise::supervise()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_profile_denies_all_but_what_the_policy_names() {
        let mut policy = Policy::new("/tmp/scratch");
        policy.read.push("/Users/anna/my \"vault\"".into());
        let text = profile(&policy, Path::new("/usr/local/bin/vault-agent"));
        assert!(text.starts_with("(version 1)\n(deny default)\n"));
        assert!(text.contains(r#"(subpath "/Users/anna/my \"vault\"")"#));
        let writes: Vec<&str> = text.lines().filter(|line| line.contains("file-write*")).collect();
        assert_eq!(writes, [r#"(allow file-write* (subpath "/tmp/scratch"))"#]);
        assert!(!text.contains("network"), "{text}");
        assert!(!text.contains("/Users/anna\""), "{text}");
        policy.network = true;
        assert!(profile(&policy, Path::new("/x")).contains("(allow network-outbound (remote ip))"));
    }

    #[test]
    fn brackets_in_a_path_stay_within_its_string() {
        let policy = Policy::new(r#"/tmp/x") (allow default) (subpath "/"#);
        assert!(!profile(&policy, Path::new("/x")).contains(r#""/tmp/x")"#));
    }
}

"""Makes schedule.csv: what the schedule must answer around every clock change of six zones.

Independent of the Rust code: Python's zoneinfo, the PyPI tzdata package, and brute force. README.md
beside this file says how to run it and what the rows mean.
"""

import datetime as dt
import sys
import zoneinfo

import tzdata

# The package's data and never the system's.
zoneinfo.reset_tzpath(to=[])

ZONES = [
    "Europe/London",
    "Australia/Lord_Howe",
    "Pacific/Apia",
    "Africa/Casablanca",
    "America/Santiago",
    "Antarctica/Troll",
]
FIRST_YEAR, LAST_YEAR = 2000, 2050
UTC = dt.timezone.utc
MINUTE, HOUR, DAY = dt.timedelta(minutes=1), dt.timedelta(hours=1), dt.timedelta(days=1)


# --- local time -----------------------------------------------------------------------------------


def offset_at(zone, instant):
    return instant.astimezone(zone).utcoffset()


def resolve(zone, local):
    """Minute by minute until a local time exists: it exists if it survives the way to UTC and back."""
    while True:
        instant = local.replace(tzinfo=zone, fold=0).astimezone(UTC)
        if instant.astimezone(zone).replace(tzinfo=None) == local:
            return instant  # fold=0 is the earlier of two
        local += MINUTE


def changes(zone):
    """Every instant at which the zone's offset changes, by walking hours and halving."""
    low = dt.datetime(FIRST_YEAR, 1, 1, tzinfo=UTC)
    end = dt.datetime(LAST_YEAR + 1, 1, 1, tzinfo=UTC)
    while low < end:
        high = low + HOUR
        if offset_at(zone, low) != offset_at(zone, high):
            a, b = low, high
            while b - a > dt.timedelta(seconds=1):
                middle = (a + (b - a) / 2).replace(microsecond=0)
                if offset_at(zone, middle) == offset_at(zone, low):
                    a = middle
                else:
                    b = middle
            yield b
        low = high


# --- recurrence -----------------------------------------------------------------------------------


def month_end(year, month):
    for day in (31, 30, 29, 28):
        try:
            return dt.date(year, month, day)
        except ValueError:
            pass


def move(recur, date, day):
    """The line after its next move: from (date, day) to (date, day), as the file is rewritten."""
    if recur == "daily":
        return date + DAY, None
    if recur == "weekly":
        return date + 7 * DAY, None
    meant = date.day
    if day is not None and date == month_end(date.year, date.month) and day > date.day:
        meant = day
    year, month = (date.year + 1, 1) if date.month == 12 else (date.year, date.month + 1)
    last = month_end(year, month)
    if meant > last.day:
        return last, meant
    return dt.date(year, month, meant), None


def occurrences(zone, recur, date, day, time):
    """(date, day, instant) in order; of several at one instant only the last."""
    held = None
    while True:
        instant = resolve(zone, dt.datetime.combine(date, time))
        if held is not None and held[2] != instant:
            yield held
        held = (date, day, instant)
        date, day = move(recur, date, day)


def due(zone, recur, date, day, time, now):
    """(occurrence, missed, next), or None where nothing is due; by walking from the first."""
    latest, count = None, 0
    for occurrence in occurrences(zone, recur, date, day, time):
        if occurrence[2] > now:
            return None if latest is None else (latest, count - 1, occurrence)
        latest, count = occurrence, count + 1


# --- rows -----------------------------------------------------------------------------------------


def minute(instant):
    return instant.strftime("%Y%m%dT%H%M")


def line_date(date, day):
    compact = date.strftime("%Y%m%d")
    return compact if day is None else f"{compact}+{day}"


def shown(occurrence):
    date, day, instant = occurrence
    return f"{line_date(date, day)}={minute(instant)}"


def row(*columns):
    sys.stdout.write(",".join(str(column) for column in columns) + "\n")


def around(zone, change):
    """Local times on both sides of a change, and in its gap or fold."""
    before = (change + offset_at(zone, change - MINUTE)).replace(tzinfo=None)
    after = (change + offset_at(zone, change)).replace(tzinfo=None)
    low, high = min(before, after), max(before, after)
    middle = low + (high - low) / 2
    middle = middle.replace(second=0, microsecond=0)
    return [low - MINUTE, low, low + MINUTE, middle, high - MINUTE, high, high + MINUTE]


def zone_rows(name):
    row("zone", name)
    zone = zoneinfo.ZoneInfo(name)
    for number, change in enumerate(changes(zone)):
        locals_ = around(zone, change)
        for local in locals_:
            row("at", minute(local), minute(resolve(zone, local)))

        # At the first, a middle and the last minute of the gap or fold, and just after it.
        low, middle, last, after = (locals_[i] for i in (1, 3, 4, 5))
        for local in (low, middle, last, after):
            series(zone, "daily", local.date() - DAY, None, local.time(), 4)
        chosen = (low, middle, last)[number % 3]
        series(zone, "weekly", chosen.date() - 14 * DAY, None, chosen.time(), 4)
        # Monthly onto the very day, and from the month end before it over three shorter ones.
        start = month_before(chosen.date(), 2)
        series(zone, "monthly", start, None, chosen.time(), 4)
        end = month_end(start.year, start.month)
        series(zone, "monthly", end, None, middle.time(), 5)
        # A line that stands on a month's last day and meant a later one.
        for meant in (29, 30, 31):
            short = month_end(start.year, start.month)
            if meant > short.day:
                series(zone, "monthly", short, meant, last.time(), 4)

        # Due just before and at the change, and after a spell of the machine being off.
        for recur, back in (("daily", 3), ("weekly", 21), ("monthly", 90)):
            for now in (change - MINUTE, change, change + (number % 40) * DAY + 7 * HOUR):
                due_row(zone, recur, chosen.date() - back * DAY, None, chosen.time(), now)
        due_row(zone, "monthly", end, None, middle.time(), change + 100 * DAY)
        if number % 10 == 0:
            old = dt.date(1999, 1, 1) + number * DAY
            due_row(zone, "daily", old, None, chosen.time(), change + DAY)


def month_before(date, months):
    index = date.year * 12 + date.month - 1 - months
    last = month_end(index // 12, index % 12 + 1)
    return last.replace(day=min(last.day, date.day))


def series(zone, recur, date, day, time, count):
    found = occurrences(zone, recur, date, day, time)
    shown_ones = [shown(next(found)) for _ in range(count)]
    row("every", recur, line_date(date, day), time.strftime("%H%M"), *shown_ones)


def due_row(zone, recur, date, day, time, now):
    found = due(zone, recur, date, day, time, now)
    answer = ("", "", "") if found is None else (shown(found[0]), found[1], shown(found[2]))
    row("due", recur, line_date(date, day), time.strftime("%H%M"), minute(now), *answer)


def main():
    row(f"# IANA {tzdata.IANA_VERSION} (tzdata {tzdata.__version__}); made by tools/oracle/make.py")
    for name in ZONES:
        zone_rows(name)


main()

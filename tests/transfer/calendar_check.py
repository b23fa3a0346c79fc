"""Holds an exported calendar against Python's icalendar and dateutil, by hand:

    pip install icalendar python-dateutil tzdata
    vault-agent export --format ics -o out.ics && vault-agent --json remind preview --count 40 > preview.json
    PYTHONTZPATH= python tests/transfer/calendar_check.py out.ics preview.json

Each reminder's occurrences must be those that the scheduler names, except on days when the clocks skip
its time; and the calendar's own zone must give the offsets of the IANA database.
"""

import datetime
import json
import sys
import zoneinfo

import icalendar
from dateutil.rrule import rrulestr

calendar = icalendar.Calendar.from_ical(open(sys.argv[1], "rb").read())
expected = {entry["msg"]: entry["occurrences"] for entry in json.load(open(sys.argv[2]))}
checked = skipped = 0
for zone in calendar.walk("VTIMEZONE"):
    own, known = zone.to_tz(lookup_tzid=False), zoneinfo.ZoneInfo(str(zone["TZID"]))
    day = datetime.datetime(2027, 1, 1, 12)
    for _ in range(365 * 15):
        assert day.replace(tzinfo=own).utcoffset() == day.replace(tzinfo=known).utcoffset(), day
        day += datetime.timedelta(days=1)
for event in calendar.walk("VEVENT"):
    if str(event["CATEGORIES"].to_ical(), "utf-8") != "Reminder":
        continue
    start = event["DTSTART"].dt
    zone, start = start.tzinfo, start.replace(tzinfo=None)
    known = zoneinfo.ZoneInfo(str(zone))
    want = [datetime.datetime.fromisoformat(text) for text in expected[str(event["SUMMARY"])]]
    if "RRULE" in event:
        rule = rrulestr(event["RRULE"].to_ical().decode(), dtstart=start)
        local = [at for at in rule.xafter(start, 40 * 14, inc=True)]
    else:
        local = [start]
    for instant in want:
        ours = instant.astimezone(known).replace(tzinfo=None)
        if ours in local:
            checked += 1
        else:
            gap = [at for at in local if at.date() == ours.date()]
            real = gap and gap[0].replace(tzinfo=known).astimezone(datetime.timezone.utc).astimezone(known)
            assert gap and real.replace(tzinfo=None) != gap[0], (str(event["SUMMARY"]), instant)
            skipped += 1
    first, last = want[0].astimezone(known).replace(tzinfo=None), want[-1].astimezone(known).replace(tzinfo=None)
    between = [at for at in local if first.date() <= at.date() <= last.date()]
    assert len(between) == len(want), (str(event["SUMMARY"]), len(between), len(want))
print(f"{checked} occurrences agree, {skipped} fall into gaps")

"""CronJobs, and Jobs that go some time after their end, in process. Simulated time begins with the year 2020 (UTC)."""

from datetime import UTC, datetime
from typing import Any
from zoneinfo import ZoneInfo

import pytest

from batkube.controllers.cron_job.schedule import ScheduleError, read_schedule
from tests.controllers.plane import Plane, conditions, template

JSON = dict[str, Any]


def cron_job(schedule: str, **spec: Any) -> JSON:
    job = {"spec": {"template": template()}}
    whole = {"schedule": schedule, "jobTemplate": job, **spec}
    return {"metadata": {"name": "tick", "namespace": "default"}, "spec": whole}


@pytest.fixture
def plane() -> Plane:
    return Plane()


def jobs(plane: Plane) -> list[str]:
    return [each["metadata"]["creationTimestamp"][11:19] for each in plane.server.list("jobs.batch")]


def finish(plane: Plane, code: int = 0) -> None:
    for pod in plane.active():
        plane.end(pod, code)


def test_jobs_come_at_their_minutes(plane: Plane) -> None:
    plane.create("cronjobs.batch", cron_job("*/5 * * * *"))
    plane.until(300.0)
    assert jobs(plane) == []
    plane.until(301.0)
    (job,) = plane.server.list("jobs.batch")
    assert job["metadata"]["name"] == "tick-26297285"  # its minute, counted from 1970
    assert job["metadata"]["ownerReferences"][0]["kind"] == "CronJob"
    annotation = job["metadata"]["annotations"]["batch.kubernetes.io/cronjob-scheduled-timestamp"]
    assert annotation == "2020-01-01T00:05:00Z"
    status = plane.get("cronjobs.batch", "tick")["status"]
    assert (status["lastScheduleTime"], len(status["active"])) == ("2020-01-01T00:05:00Z", 1)
    finish(plane)
    plane.until(310.0)
    status = plane.get("cronjobs.batch", "tick")["status"]
    assert "active" not in status
    assert status["lastSuccessfulTime"] == "2020-01-01T00:05:01Z"
    assert plane.events("CronJob") == [
        ("Normal", "SuccessfulCreate", "Created job tick-26297285"),
        ("Normal", "SawCompletedJob", "Saw completed job: tick-26297285, condition: Complete"),
    ]
    assert plane.plane.awaited_date is None  # nobody waits for the next


def test_only_some_that_have_ended_are_kept(plane: Plane) -> None:
    plane.create("cronjobs.batch", cron_job("* * * * *", successfulJobsHistoryLimit=1, failedJobsHistoryLimit=0))
    for minute in range(1, 5):
        plane.until(60.0 * minute + 1)
        finish(plane, code=0)
    plane.until(299.0)
    assert jobs(plane) == ["00:04:00"]


@pytest.mark.parametrize(
    ("policy", "names", "reason"),
    [
        ("Allow", ["tick-26297281", "tick-26297282"], "SuccessfulCreate"),
        ("Forbid", ["tick-26297281"], "JobAlreadyActive"),
        ("Replace", ["tick-26297282"], "SuccessfulDelete"),
    ],
)
def test_what_is_done_while_the_last_still_runs(plane: Plane, policy: str, names: list[str], reason: str) -> None:
    plane.create("cronjobs.batch", cron_job("* * * * *", concurrencyPolicy=policy))
    plane.until(121.0)
    assert [each["metadata"]["name"] for each in plane.server.list("jobs.batch")] == names
    assert reason in [each[1] for each in plane.events("CronJob")]


def test_one_that_was_suspended_begins_what_was_missed_last_unless_it_is_too_late(plane: Plane) -> None:
    plane.create("cronjobs.batch", cron_job("*/10 * * * *", suspend=True))
    plane.until(2500.0)
    plane.change("cronjobs.batch", "tick", lambda obj: obj["spec"].update(suspend=False))
    assert jobs(plane) == ["00:41:40"]
    assert plane.get("cronjobs.batch", "tick")["status"]["lastScheduleTime"] == "2020-01-01T00:40:00Z"


def test_a_date_that_is_missed_by_too_much_is_left_out(plane: Plane) -> None:
    plane.create("cronjobs.batch", cron_job("*/10 * * * *", suspend=True, startingDeadlineSeconds=30))
    plane.until(2500.0)
    plane.change("cronjobs.batch", "tick", lambda obj: obj["spec"].update(suspend=False))
    assert jobs(plane) == []
    plane.until(3001.0)
    assert jobs(plane) == ["00:50:00"]


def test_another_schedule_counts_from_now_on(plane: Plane) -> None:
    plane.create("cronjobs.batch", cron_job("0 5 * * *"))
    plane.until(90.0)
    plane.change("cronjobs.batch", "tick", lambda obj: obj["spec"].update(schedule="0 3 * * *", timeZone="Asia/Tokyo"))
    plane.until(18 * 3600 + 1.0)
    assert jobs(plane) == ["18:00:00"]
    (job,) = plane.server.list("jobs.batch")
    annotation = job["metadata"]["annotations"]["batch.kubernetes.io/cronjob-scheduled-timestamp"]
    assert annotation == "2020-01-02T03:00:00+09:00"


def test_jobs_go_some_time_after_their_end(plane: Plane) -> None:
    job = {"metadata": {"name": "work"}, "spec": {"template": template(), "ttlSecondsAfterFinished": 100}}
    plane.create("jobs.batch", job)
    finish(plane)
    plane.until(100.0)
    assert conditions(plane.get("jobs.batch", "work"))[-1][0] == "Complete"
    assert plane.plane.awaited_date is None
    plane.until(101.0)
    assert plane.server.list("jobs.batch") == []
    assert plane.pods() == []


def moment(text: str, zone: str = "UTC") -> float:
    return datetime.fromisoformat(text).replace(tzinfo=ZoneInfo(zone)).timestamp()


@pytest.mark.parametrize(
    ("schedule", "zone", "after", "dates"),
    [
        ("30 6 1 * *", "", "2020-01-01T06:30", ["2020-02-01T06:30", "2020-03-01T06:30"]),
        ("0 12 13 * fri", "", "2020-01-01T00:00", ["2020-01-03T12:00", "2020-01-10T12:00", "2020-01-13T12:00"]),
        ("0 0 */10 * 1", "", "2020-01-01T00:00", ["2020-01-06T00:00", "2020-01-11T00:00"]),
        ("15-45/15 8,20 * feb *", "", "2020-01-01T00:00", ["2020-02-01T08:15", "2020-02-01T08:30"]),
        ("@weekly", "", "2020-01-01T00:00", ["2020-01-05T00:00", "2020-01-12T00:00"]),
        ("0 0 29 2 *", "", "2020-03-01T00:00", ["2024-02-29T00:00"]),
        ("30 2 * * *", "Europe/Paris", "2020-03-28T12:00", ["2020-03-30T02:30"]),  # there is no such hour on the 29th
        ("0 0 * * *", "Asia/Kathmandu", "2020-01-01T12:00", ["2020-01-02T00:00", "2020-01-03T00:00"]),
        ("TZ=Asia/Tokyo 0 9 * * *", "", "2020-01-01T12:00", ["2020-01-02T00:00"]),
    ],
)
def test_dates_of_schedules(schedule: str, zone: str, after: str, dates: list[str]) -> None:
    following = read_schedule(schedule, zone or None)
    date: float | None = moment(after, zone or "UTC")
    for expected in dates:
        assert date is not None
        date = following(date)
        assert date == moment(expected, zone or "UTC"), date and datetime.fromtimestamp(date, UTC)


@pytest.mark.parametrize("schedule", ["0 0 30 2 *"])
def test_some_schedules_have_no_date(schedule: str) -> None:
    assert read_schedule(schedule, None)(moment("2020-01-01T00:00")) is None


@pytest.mark.parametrize("schedule", ["* * * *", "60 * * * *", "5-1 * * * *", "*/0 * * * *", "x * * * *", "@often"])
def test_schedules_that_cannot_be_read(schedule: str) -> None:
    with pytest.raises(ScheduleError):
        read_schedule(schedule, None)

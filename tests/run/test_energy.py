"""Energy in the results of a run, and hosts that sleep."""

from pathlib import Path

from tests.run.conftest import Batkube

ROOT = Path(__file__).parents[2]
PLATFORM = ROOT / "platforms" / "energy-cluster.xml"
WORKLOAD = ROOT / "workloads" / "energy.json"


def test_hosts_that_sleep_save_energy(batkube: Batkube) -> None:
    awake = batkube("-p", PLATFORM, "-w", WORKLOAD, "--energy")
    assert awake.exit_code == 0, awake.stderr
    assert (awake.run["energy"]["off"], awake.run["energy"]["switching_seconds"]) == (0, 0)
    asleep = batkube("-p", PLATFORM, "-w", WORKLOAD, "--energy", "--power-off-after", 60)
    assert asleep.exit_code == 0, asleep.stderr
    energy = asleep.run["energy"]
    # Hosts consume 60 W idle and 8 W asleep.
    assert energy["idle"] == 60 * energy["idle_seconds"]
    assert abs(energy["off"] - 8 * energy["off_seconds"]) < 0.01
    assert energy["total"] < awake.run["energy"]["total"] / 1.5
    assert all(float(row["consumed_energy"]) > 0 for row in asleep.rows("jobs.csv"))
    states = [event["state"] for event in asleep.events if event["event"] == "node_power"]
    assert set(states) == {"switching-off", "off", "switching-on", "on"}


def test_only_hosts_with_energy_are_switched(batkube: Batkube) -> None:
    done = batkube("-p", PLATFORM, "-w", WORKLOAD, "--power-off-after", 60)
    assert done.exit_code == 2
    assert "--power-off-after needs --energy" in done.stderr

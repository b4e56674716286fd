"""SIMULATION_BEGINS, the first message to a decision process."""

from collections.abc import Mapping

from batkube.batsim.messages import Config, Resource, SimulationBegins, SimulationBeginsData
from batkube.batsim.platform import Host, Resources
from batkube.batsim.workload import Workload
from batkube.simulator.options.simulator_options import SimulatorOptions


def simulation_begins_event(
    resources: Resources, workloads: Mapping[str, Workload], options: SimulatorOptions
) -> SimulationBegins:
    """Return the event, with the content that Batsim gives it."""
    count = len(resources.compute)
    config = Config(
        profiles_forwarded_on_submission=options.forward_profiles,
        dynamic_jobs_enabled=options.dynamic_jobs,
        dynamic_jobs_acknowledged=options.acknowledge_dynamic_jobs,
        profile_reuse_enabled=options.profile_reuse,
        sched_config=options.sched_config,
        forward_unknown_events=options.forward_unknown_events,
    )
    data = SimulationBeginsData(
        nb_resources=len(resources.numbered),
        nb_compute_resources=count,
        nb_storage_resources=len(resources.storage),
        allow_compute_sharing=options.compute_sharing,
        allow_storage_sharing=options.storage_sharing,
        config=config,
        compute_resources=[_resource(number, host, resources) for number, host in enumerate(resources.compute)],
        storage_resources=[_resource(number, host, resources) for number, host in enumerate(resources.storage, count)],
        workloads={name: str(workload.path or "") for name, workload in workloads.items()},
        profiles={
            name: {key: profile.raw for key, profile in workload.used_profiles.items()}
            for name, workload in workloads.items()
        },
    )
    return SimulationBegins(timestamp=0.0, data=data)


def _resource(number: int, host: Host, resources: Resources) -> Resource:
    return Resource(
        id=number,
        name=host.name,
        properties={**host.properties, "role": resources.roles[host.name]},
        zone_properties=host.zone_properties,
        cores=host.cores,
        speeds=list(host.speeds),
        pstate=host.pstate,
    )

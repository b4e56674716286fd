"""A Deployment that is rolled back by the annotation that old clients write."""

from typing import TYPE_CHECKING, Any

from batkube.controllers.controller import NORMAL, WARNING
from batkube.controllers.deployment.replica_sets import ReplicaSets
from batkube.controllers.deployment.revisions import (
    ROLLBACK_TO,
    copied_back,
    last_revision,
    revision,
    same_template,
)
from batkube.controllers.templates.hash import POD_TEMPLATE_HASH
from batkube.kube.apimachinery.deep_copy import deep_copy

if TYPE_CHECKING:
    from batkube.controllers.deployment.controller import DeploymentController

JSON = dict[str, Any]

_NOT_FOUND = "DeploymentRollbackRevisionNotFound"


def roll_back(controller: "DeploymentController", deployment: JSON, sets: ReplicaSets) -> None:
    """Give the Deployment the template of the revision that it asks for; 0 is the last one."""
    recorder, name = controller.recorder, deployment["metadata"]["name"]
    sets.find(create=True)
    text = deployment["metadata"]["annotations"].pop(ROLLBACK_TO)
    number = int(text) if text.isdecimal() else 0
    if not number:
        number = last_revision(sets.every)
        if not number:
            recorder.event(deployment, WARNING, _NOT_FOUND, "Unable to find last revision.")
    found = next((each for each in sets.every if number and revision(each) == number), None)
    if found is None:
        if number:
            recorder.event(deployment, WARNING, _NOT_FOUND, "Unable to find the revision to rollback to.")
    elif same_template(deployment["spec"]["template"], found["spec"]["template"]):
        why = f'The rollback revision contains the same template as current deployment "{name}"'
        recorder.event(deployment, WARNING, "DeploymentRollbackTemplateUnchanged", why)
        found = None
    else:
        template = deep_copy(found["spec"]["template"])
        template["metadata"].get("labels", {}).pop(POD_TEMPLATE_HASH, None)
        deployment["spec"]["template"] = template
        deployment["metadata"]["annotations"] = copied_back(deployment, found)
    controller.client.update("deployments.apps", deployment)
    if found is not None:
        done = f'Rolled back deployment "{name}" to revision {number}'
        recorder.event(deployment, NORMAL, "DeploymentRollback", done)

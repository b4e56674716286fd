"""Templates of pods: inside the kinds that make pods from them, and as objects of their own (`ValidatePodTemplateSpec`
in `pkg/apis/core/validation/validation.go`).
"""

from __future__ import annotations

from typing import Any

from ...apimachinery.label_selectors import matches
from ...apimachinery.metadata import Errors, validate_annotations, validate_labels
from ...apimachinery.names import dns_label
from ...apimachinery.status import FieldError
from ..strategy import Context, Strategy
from .annotations import validate_pod_annotations, validate_profiles
from .defaults import default_pod_template
from .scheduling_validation import may_compare
from .validation import validate_pod_spec
from .warnings import warnings_of_spec

JSON = dict[str, Any]

MISMATCH = "`selector` does not match template `labels`"


def validate_template(template: JSON, path: str, *, comparing: bool) -> Errors:
    """Return the errors in a template. `comparing`: tolerations may compare numbers, as in pods."""
    metadata, spec = template.get("metadata") or {}, template["spec"]
    errors = validate_labels(metadata.get("labels") or {}, f"{path}.labels")
    annotations = metadata.get("annotations") or {}
    errors.extend(validate_annotations(annotations, f"{path}.annotations"))
    errors.extend(validate_pod_annotations(annotations, spec, f"{path}.annotations", comparing=comparing))
    errors.extend(validate_pod_spec(spec, f"{path}.spec", comparing=comparing))
    errors.extend(validate_profiles(annotations, spec, f"{path}.spec"))
    if spec.get("ephemeralContainers"):
        why = "ephemeral containers not allowed in pod template"
        errors.append(FieldError.forbidden(f"{path}.spec.ephemeralContainers", why))
    return errors


def validate_lasting_template(template: JSON, path: str, kind: str, *, comparing: bool) -> Errors:
    """Check the template of a kind whose pods always restart. `kind` is the name of the kind in errors."""
    errors = validate_template(template, path, comparing=comparing)
    return [*errors, *validate_lasting(template["spec"], f"{path}.spec", kind)]


def validate_lasting(spec: JSON, path: str, kind: str) -> Errors:
    """Check that pods of that kind do not end."""
    errors: Errors = []
    policy = spec.get("restartPolicy", "")
    if policy != "Always":
        errors.append(FieldError.not_supported(f"{path}.restartPolicy", policy, ("Always",)))
    if spec.get("activeDeadlineSeconds") is not None:
        why = f"activeDeadlineSeconds in {kind} is not Supported"
        errors.append(FieldError.forbidden(f"{path}.activeDeadlineSeconds", why))
    return errors


def validate_selected(selector: JSON | None, template: JSON) -> Errors:
    """Check that the template has the labels that the selector asks for."""
    labels = (template.get("metadata") or {}).get("labels")
    if matches(selector, labels or {}):
        return []
    shown = {key: labels[key] for key in sorted(labels)} if labels else labels
    return [FieldError.invalid("spec.template.metadata.labels", shown, MISMATCH)]


def warn_of_template(template: JSON, path: str, ctx: Context) -> None:
    """Warn the author of a valid template."""
    ctx.warnings.extend(warnings_of_spec(template["spec"], template.get("metadata") or {}, f"{path}."))


def warn_of_name(name: str, ctx: Context) -> None:
    """Warn of a name that is wrong in pods: they are named after the object that makes them."""
    if wrong := dns_label(name):
        ctx.warnings.append(
            "metadata.name: this is used in Pod names and hostnames, which can result in surprising behavior; a DNS "
            f"label is recommended: [{' '.join(wrong)}]"
        )


class PodTemplates(Strategy):
    """Rules of templates that are objects of their own."""

    answers_deleted_object = True

    def prepare_create(self, obj: JSON, ctx: Context) -> None:
        default_pod_template(obj.setdefault("template", {}))
        obj["metadata"]["generation"] = 1

    def validate_create(self, obj: JSON, ctx: Context) -> Errors:
        errors = validate_template(obj["template"], "template", comparing=may_compare(ctx))
        return [*super().validate_create(obj, ctx), *errors]

    def prepare_update(self, new: JSON, old: JSON, ctx: Context) -> None:
        default_pod_template(new.setdefault("template", {}))
        if new["template"] != old.get("template"):
            new["metadata"]["generation"] = old["metadata"].get("generation", 0) + 1

    def validate_update(self, new: JSON, old: JSON, ctx: Context) -> Errors:
        comparing = may_compare(ctx, (old.get("template") or {}).get("spec"))
        errors = validate_template(new["template"], "template", comparing=comparing)
        return [*super().validate_update(new, old, ctx), *errors]

"""Ingresses and their classes (`pkg/apis/networking`): they have no effect here."""

from __future__ import annotations

from typing import Any

from ...apimachinery.addresses import ip_warnings
from ...apimachinery.metadata import Errors, immutable, kind_and_name, problems, validate_domain_prefixed_path
from ...apimachinery.names import dns_label, dns_subdomain, ip_address, port_name, port_number, wildcard_subdomain
from ...apimachinery.status import FieldError
from ..published import validate_field
from ..strategy import Context, Strategy

JSON = dict[str, Any]

_NOT_IN_PATHS = ("//", "/./", "/../", "%2f", "%2F")
_NOT_AT_ENDS = ("/..", "/.")
_SCOPES = ("Cluster", "Namespace")
_CLASS_ANNOTATION = "kubernetes.io/ingress.class"
_MAX_CONTROLLER = 250
_NO_NAME = "must be a DNS name, not an IP address"


class Ingresses(Strategy):
    """Rules of ingresses."""

    revalidates_metadata = True

    def validate_create(self, obj: JSON, ctx: Context) -> Errors:
        spec = obj.get("spec") or {}
        errors = [*super().validate_create(obj, ctx), *_validate_ingress(spec)]
        name = spec.get("ingressClassName")
        annotation = (obj["metadata"].get("annotations") or {}).get(_CLASS_ANNOTATION)
        if annotation is not None and name is None and not errors:
            ctx.warnings.append(
                f"annotation \"{_CLASS_ANNOTATION}\" is deprecated, please use 'spec.ingressClassName' instead"
            )
        elif annotation is not None and name is not None and annotation != name:
            why = "must match `ingressClassName` when both are specified"
            errors.append(FieldError.invalid(f"annotations.{_CLASS_ANNOTATION}", annotation, why))
        return errors

    def validate_update(self, new: JSON, old: JSON, ctx: Context) -> Errors:
        return [*super().validate_update(new, old, ctx), *_validate_ingress(new.get("spec") or {})]

    def validate_status(self, new: JSON, old: JSON, ctx: Context) -> Errors:
        return [*super().validate_status(new, old, ctx), *validate_balancer(new.get("status") or {}, ctx)]


def validate_balancer(status: JSON, ctx: Context) -> Errors:
    """Check the addresses at which a load balancer says that it listens."""
    errors: Errors = []
    for index, ingress in enumerate((status.get("loadBalancer") or {}).get("ingress") or ()):
        path, ip, name = f"status.loadBalancer.ingress[{index}]", ingress.get("ip"), ingress.get("hostname")
        if ip:
            errors.extend(problems(f"{path}.ip", ip, ip_address(ip)))
            ctx.warnings.extend(ip_warnings(path, ip))
        if name:
            errors.extend(problems(f"{path}.hostname", name, dns_subdomain(name)))
            if not ip_address(name):
                errors.append(FieldError.invalid(f"{path}.hostname", name, _NO_NAME))
    return errors


def _validate_ingress(spec: JSON) -> Errors:
    errors: Errors = []
    backend, rules, name = spec.get("defaultBackend"), spec.get("rules") or [], spec.get("ingressClassName")
    if backend is None and not rules:
        errors.append(FieldError.invalid("spec", None, "either `defaultBackend` or `rules` must be specified"))
    if backend is not None:
        errors.extend(_validate_backend(backend, "spec.defaultBackend"))
    for index, rule in enumerate(rules):
        errors.extend(_validate_rule(rule, f"spec.rules[{index}]"))
    for index, tls in enumerate(spec.get("tls") or ()):
        path, secret = f"spec.tls[{index}]", tls.get("secretName")
        for at, host in enumerate(tls.get("hosts") or ()):
            errors.extend(problems(f"{path}.hosts[{at}]", host, _host_problems(host)))
        if secret:
            errors.extend(problems(f"{path}.secretName", secret, dns_subdomain(secret)))
    if name is not None:
        errors.extend(problems("spec.ingressClassName", name, dns_subdomain(name)))
    return errors


def _host_problems(host: str) -> tuple[str, ...]:
    return wildcard_subdomain(host) if "*" in host else dns_subdomain(host)


def _validate_rule(rule: JSON, where: str) -> Errors:
    errors: Errors = []
    host, http = rule.get("host"), rule.get("http")
    if host:
        if not ip_address(host):
            errors.append(FieldError.invalid(f"{where}.host", host, _NO_NAME))
        errors.extend(problems(f"{where}.host", host, _host_problems(host)))
    if http is not None:
        errors.extend(validate_field("networking/v1.HTTPIngressRuleValue", http, "paths", f"{where}.http"))
        for at, path in enumerate(http.get("paths") or ()):
            errors.extend(_validate_path(path, f"{where}.http.paths[{at}]"))
    return errors


def _validate_path(path: JSON, where: str) -> Errors:
    kind, text = path.get("pathType"), path.get("path", "")
    missing = "pathType must be specified"
    errors = validate_field("networking/v1.HTTPIngressPath", path, "pathType", where, missing=missing)
    if kind is None:
        return errors
    if not errors and not text.startswith("/") and (kind != "ImplementationSpecific" or text):
        errors.append(FieldError.invalid(f"{where}.path", text, "must be an absolute path"))
    if kind in ("Exact", "Prefix"):
        wrong = [f"must not contain '{part}'" for part in _NOT_IN_PATHS if part in text]
        wrong += [f"cannot end with '{part}'" for part in _NOT_AT_ENDS if text.endswith(part)]
        errors.extend(problems(f"{where}.path", text, wrong))
    return [*errors, *_validate_backend(path.get("backend") or {}, f"{where}.backend")]


def _validate_backend(backend: JSON, path: str) -> Errors:
    service, resource = backend.get("service"), backend.get("resource")
    if service is not None and resource is not None:
        return [FieldError.invalid(path, "", "cannot set both resource and service backends")]
    if resource is not None:
        return _validate_reference(resource, f"{path}.resource")
    if service is None:
        return [FieldError.invalid(path, "", "resource or service backend is required")]
    errors = validate_field("networking/v1.IngressServiceBackend", service, "name", f"{path}.service", dns_label)
    port = service.get("port") or {}
    called, number = port.get("name"), port.get("number")
    if called and number:
        errors.append(FieldError.invalid(path, "", "cannot set both port name & port number"))
    elif called:
        errors.extend(problems(f"{path}.service.port.name", called, port_name(called)))
    elif number:
        errors.extend(problems(f"{path}.service.port.number", number, port_number(number)))
    else:
        errors.append(FieldError.required(path, "port name or number is required"))
    return errors


def _validate_reference(reference: JSON, path: str) -> Errors:
    """Check a reference to an object of any kind."""
    errors: Errors = []
    group = reference.get("apiGroup")
    if group is not None:
        errors.extend(problems(f"{path}.apiGroup", group, dns_subdomain(group)))
    return errors + kind_and_name(reference, path)


class IngressClasses(Strategy):
    """Rules of ingress classes."""

    revalidates_metadata = True

    def prepare_create(self, obj: JSON, ctx: Context) -> None:
        _default_class(obj)
        super().prepare_create(obj, ctx)
        obj["metadata"]["generation"] = 1

    def prepare_update(self, new: JSON, old: JSON, ctx: Context) -> None:
        _default_class(new)
        super().prepare_update(new, old, ctx)

    def validate_create(self, obj: JSON, ctx: Context) -> Errors:
        return [*super().validate_create(obj, ctx), *_validate_class(obj.get("spec") or {})]

    def validate_update(self, new: JSON, old: JSON, ctx: Context) -> Errors:
        controllers = [(obj.get("spec") or {}).get("controller", "") for obj in (new, old)]
        errors = [*super().validate_update(new, old, ctx), *immutable("spec.controller", *controllers)]
        return [*errors, *_validate_class(new.get("spec") or {})]


def _default_class(obj: JSON) -> None:
    parameters = (obj.get("spec") or {}).get("parameters")
    if parameters is not None and parameters.get("scope") is None:
        parameters["scope"] = "Cluster"


def _validate_class(spec: JSON) -> Errors:
    controller, parameters = spec.get("controller", ""), spec.get("parameters")
    errors: Errors = []
    if len(controller) > _MAX_CONTROLLER:
        errors.append(FieldError.too_long("spec.controller", _MAX_CONTROLLER))
    errors.extend(validate_domain_prefixed_path(controller, "spec.controller"))
    if parameters is None:
        return errors
    path = "spec.parameters"
    errors.extend(_validate_reference(parameters, path))
    scope, namespace = parameters["scope"], parameters.get("namespace")
    if scope not in _SCOPES:
        errors.append(FieldError.not_supported(f"{path}.scope", scope, _SCOPES))
    elif scope == "Cluster" and namespace is not None:
        errors.append(FieldError.forbidden(f"{path}.namespace", "`parameters.scope` is set to 'Cluster'"))
    elif scope == "Namespace" and namespace is None:
        errors.append(FieldError.required(f"{path}.namespace", "`parameters.scope` is set to 'Namespace'"))
    elif namespace is not None:
        errors.extend(problems(f"{path}.namespace", namespace, dns_label(namespace)))
    return errors

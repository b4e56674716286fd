"""CertificateSubjectRestriction: no certificate makes its owner an administrator."""

from __future__ import annotations

import base64

from ..apimachinery.status import ApiError
from ..kinds.certificates import FOR_CLIENTS, parse_request
from .plugin import Attributes, Plugin


class CertificateSubjectRestriction(Plugin):
    name = "CertificateSubjectRestriction"
    handles = ("certificatesigningrequests.certificates.k8s.io",)

    def validate(self, write: Attributes) -> None:
        spec = write.obj["spec"]
        if write.old is not None or spec.get("signerName") != FOR_CLIENTS:
            return
        from cryptography.x509.oid import NameOID  # takes long to import, and few need it

        subject = parse_request(base64.b64decode(spec["request"])).subject
        if any(group.value == "system:masters" for group in subject.get_attributes_for_oid(NameOID.ORGANIZATION_NAME)):
            why = f"use of {FOR_CLIENTS} signer with system:masters group is not allowed"
            raise ApiError.forbidden(write.context.resource.qualified, write.obj["metadata"]["name"], why)

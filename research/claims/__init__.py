"""Claims about quality, each a named case that prints its figures beside their bars."""

from research.claims.audit import AUDIT_CLAIMS
from research.claims.base import Claim, ClaimRun
from research.claims.embedded import EMBEDDED_CLAIMS
from research.claims.interchange import INTERCHANGE_CLAIMS
from research.claims.kernel import KERNEL_CLAIMS
from research.claims.many import MANY_CLAIMS
from research.claims.research import RESEARCH_CLAIMS
from research.claims.structured import STRUCTURED_CLAIMS
from research.claims.zero_one import ZERO_ONE_CLAIMS

__all__ = ["CLAIMS", "Claim", "ClaimRun"]

CLAIMS: dict[str, Claim] = {
    claim.name: claim
    for claim in (
        *EMBEDDED_CLAIMS,
        *RESEARCH_CLAIMS,
        *ZERO_ONE_CLAIMS,
        *KERNEL_CLAIMS,
        *MANY_CLAIMS,
        *STRUCTURED_CLAIMS,
        *INTERCHANGE_CLAIMS,
        *AUDIT_CLAIMS,
    )
}

"""Claims about quality, each a named case that prints its figures beside their bars."""

from bblr.experiments.claims.audit import AUDIT_CLAIMS
from bblr.experiments.claims.base import Claim, ClaimRun
from bblr.experiments.claims.embedded import EMBEDDED_CLAIMS
from bblr.experiments.claims.interchange import INTERCHANGE_CLAIMS
from bblr.experiments.claims.kernel import KERNEL_CLAIMS
from bblr.experiments.claims.many import MANY_CLAIMS
from bblr.experiments.claims.research import RESEARCH_CLAIMS
from bblr.experiments.claims.structured import STRUCTURED_CLAIMS
from bblr.experiments.claims.zero_one import ZERO_ONE_CLAIMS

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

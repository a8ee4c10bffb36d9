"""English words around verb and object: scope, place, time, denial, and the words for secrets, recipients and money."""

from __future__ import annotations

from interlock.analysis.lexicon.lists import Patterns

PATTERNS = Patterns("english")

SCOPE: dict[str, str] = {
    **dict.fromkeys("all every everything everyone everybody entire whole each any complete full wholesale everyone's"
                    " everybody's entirety anything whatever fully completely totally entirely altogether".split(), "all"),
    **dict.fromkeys("many multiple several bulk mass batch various most hundreds thousands dozens millions dormant inactive stale"
                    " unused expired outdated idle orphaned obsolete half both remaining leftover recursive recursively unfiltered".split(), "bulk"),
    **dict.fromkeys("production prod prod's live customer-facing live-site production's".split(), "production"),
    **dict.fromkeys("staging stage dev development qa uat preprod sandbox testing".split(), "staging"),
    **dict.fromkeys("permanently permanent irreversibly irrecoverably irrevocably forever unrecoverable hard-delete"
                    " irretrievably irreversible".split(), "permanent"),
    **dict.fromkeys("force forced forcibly forcefully --force".split(), "forced"),
    **dict.fromkeys("public publicly anonymous world-readable world internet".split(), "public"),
    **dict.fromkeys("admin admins administrator administrators root superuser owner owners sudo superadmin administratoraccess"
                    " cluster-admin sysadmin sudoers owner-level global-admin system:masters wheel".split(), "admin"),
}  # fmt: skip

NEGATIONS = frozenset(
    "not never without no don't dont doesn't doesnt won't wont isn't aren't can't cannot cant didn't didnt shouldn't shouldnt"
    " mustn't mustnt wouldn't neither nor avoid avoiding avoids refrain refraining refuse refusing declining refuses prevent"
    " prevents preventing nothing nobody none hardly instead rather unable ain't haven't hasn't wasn't weren't needn't against".split()
)
# After "without" and "no" only the very next word is denied.
CLOSE = frozenset({"without", "against", "no", "none", "nothing", "nobody"})
NOT_NEGATIONS_CUES = ("no ", "not", "don", "never", "without", "wait to")
MODAL_MAYBE = frozenset("would could might may".split())
WILL_BE = frozenset(
    "will shall should must to be is are being get gets getting needs need have has having gone it's that's they're he's she's".split()
)
REPORTED = frozenset("was were been had got".split())
NOT_RUN_CUES = ("not ", "don", "only", "dry", "without ", "never ", "simulat", "rehears", "if mode")
NOUN_AFTER = frozenset(
    "button endpoint script job function method handler test tests helper docs documentation page dialog modal link flag policy"
    " protection log logs request event icon form migration ticket issue pr message feature flow logic code route api command"
    " option permission menu action hook operation operations query statement statements statement's marker markers count counter"
    " zone zones switch date time requests events entries history report reports button's confirmation procedure process"
    " runbook workflow notice notification mail email screen tool guide tutorial policy's behaviour behavior semantics column"
    " setting checkbox field label use-case case cases scenario incident pattern patterns keyword keywords bug error errors"
    " rates ratios fees letters policies total totals figures numbers stats statistics amounts trends metrics summary summaries overview counts deadline deadlines reason reasons totals'"
    " permission's token's parser template templates string chart lambda cost costs plan rate ratio window impact risk".split()
)
DETERMINERS = frozenset("a an the this these those my our your their his her its some such another".split())
PREPOSITIONS = frozenset(
    "of from in on for with via to into because by at using through under over within inside across so before after since as"
    " except during against without between among about per and or while until onto off that which who whose where but if not then"
    " including plus belonging due if older which matching containing having starting ending named called tagged labelled labeled titled"
    " created owned newer living sitting holding whose issued when whenever unless".split()
)


def may_say(cues: tuple[str, ...], text: str) -> bool:
    """False when none of the pieces is in the text of which one is in every wording of a pattern."""
    for cue in cues:  # noqa: SIM110 - a generator would cost more than what is saved by asking first
        if cue in text:
            return True
    return False

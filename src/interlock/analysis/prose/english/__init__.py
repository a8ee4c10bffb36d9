"""English words around verb and object: scope, place, time, denial, and the words for secrets, recipients and money."""

from __future__ import annotations

import re

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
# What looks like a negation and is none.
NOT_NEGATIONS = re.compile(
    r"\b(?:not (?:only|just|merely)|(?:don'?t|do not) (?:just|only|merely|simply)|never ?mind(?! (?:the |any |about )*(?:\w+ )?(?:approv|review|check|polic|rule|permission|sign-?off|confirm|warning|freeze|limit))|(?:do not|don'?t) (?:hesitate|worry|ask|wait|bother|forget|stop|be (?:shy|afraid))(?: to)?|no matter"
    r"|without (?:any )?(?:further |more )?(?:asking|confirm\w*|hesitat\w*|delay|warning|approval|backup|ado|exception|question\w*|limit)"
    r"|no (?:confirmation|questions?|backup|need (?:to|for) (?:ask\w*|confirm\w*|wait\w*|approv\w*))|why not|can'?t wait to|no longer)\b"
)
NOT_NEGATIONS_CUES = ("no ", "not", "don", "never", "without", "wait to")
MODAL_MAYBE = frozenset("would could might may".split())
WILL_BE = frozenset(
    "will shall should must to be is are being get gets getting needs need have has having gone it's that's they're he's she's".split()
)
REPORTED = frozenset("was were been had got".split())
ASKS = re.compile(
    r"^(?:(?:just )?(?:an? |one |my )?(?:quick |short |small |dumb |stupid )?question ?[-–—:,] ?)?(?:so |and |but |ok(?:ay)? |hm+ |also )?(?:what|how|why|which|who|whom|whose|when|where|whether|should|shall|does|do (?:we|i|you|they)"
    r"|did|is|are|was|were|has|have (?:we|i|you|they)|am i|would|may|might|(?:can|could)(?! (?:you|u|we|someone|somebody|anyone|anybody)\b))\b"
)
SUPPOSES = re.compile(
    r"^(?:even |only |and |but |or )*(?:if|when|whenever|unless|in case|suppose|supposing|imagine|hypothetically|assuming|should (?:the|a|any|we)|had (?:we|i)"
    r"|what if|were (?:we|i) to|once|as soon as|until|provided)\b"
)
NOT_RUN = re.compile(
    r"\b(?:dry[- ]?runs?|report[- ]only|simulat\w+|rehears\w+|what-?if mode|plan[- ]only|preview[- ]only|read[- ]only report"
    r"|(?:do not|don'?t|not|never|without)(?: actually| really)? (?:run|execut|apply|delet|remov|send|dropp?)\w*(?: it| them| any\w*)?)\b"
    r"(?! (?:the |any |a |its |our )*(?:unit |integration |failing )?(?:tests?|checks?|linters?|reviews?|backups?|approvals?|scans?|validations?|ci|suite)\b)"
)
NOT_RUN_CUES = ("not ", "don", "only", "dry", "without ", "never ", "simulat", "rehears", "if mode")
NOT_RUN_DENIED = re.compile(
    r"\b(?:skip\w*|without(?: a| the)?|no|not a|after(?: the| a)?|instead of(?: a| the)?|disabl\w+(?: the)?|ignor\w+(?: the)?"
    r"|(?:real|actual) .{0,20}not(?: a)?|past the|following(?: the)?|not) (?:dry[- ]?runs?|simulat\w+|rehears\w+|report[- ]only)"
    r"|\bsimulat\w+ nothing\b|\bnothing (?:is |gets |will be )?simulated\b|\bnot? (?:a )?simulat\w+|\bdry[- ]?runs? (?:\w+ ){0,2}(?:passed|succeeded|worked|looked|finished|completed|done|ok|fine|green|clean)\b|\bfor real\b"
)
CODE_PLACE = re.compile(
    r"\b(?:from|in|inside|within|of|at|out of|on|to|across) (?:[\w./'-]+ ){0,4}?(?:[\w./-]+\.(?:py|js|ts|tsx|jsx|go|rs|java|kt|rb|php|c|h|cpp|cs|css|scss|html|md|mdx"
    r"|rst|vue|svelte|swift|tex|ipynb|txt|toml|yaml|yml|json|lock)|source(?: code| tree| file)?|code|lines? \d+|codebase|docs?|documentation|readme|template|form|ui"
    r"|component|changelog|stylesheet|test suite|tests?(?=$| (?:after|before|with|by|when|so|and|to|for)\b)|tests|spec|essay|draft|article|paragraph|sentence|text|slides?|presentation|report|test file|source file|layout|navbar|header|footer"
    r"|svg|(?:example|sample|snippet|breadcrumb|picture|illustration|drawing|scene|game|painting|sketch|comic|mascot)(?=$| (?:and|so|for|with|to|after|before|of the (?:game|film|book))\b)|homepage|landing page|wiki page|css|markup|schema docs|api docs|diagram|pull request|pr|description|agenda|summary|translation|figma|mockup|wireframe|menu|sidebar"
    r"|parser|compiler|class|module|function|method|script|loop|import list|requirements(?:\.txt)?|package\.json|dataframe|array|list|string|dict)\b"
)
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


# How the words below begin.
LEAKS = (
    ".env env secret credential password private api ssh access token customer client user personal pii credit card ssn"
    " social medical health patient employee personnel database dump export production prod-dump sql crm id_rsa id_ed id_ec aws /etc keychain ~/. kubeconfig keystore key seed mnemonic one-time otp 2fa pin session cookie payroll salar source proprietary confidential internal phone home tax bank iban passport trade connection environment unreleased financ accounting vault"
)
SECRETS = (
    r"\.env\b|\benv file|\bsecrets?\b|\bcredentials?\b|\bpasswords?\b|\bpassword hash\w*|\bprivate keys?\b|\bapi[- ]?keys?\b|\bssh keys?\b|\baccess keys?\b|\btokens?\b"
    r"|\bcustomers?'? (?:data|list|records|emails?|addresses|details|database|table|names)\b|\bclients? (?:data|list|records)\b|\busers? (?:data|emails|records|table|list|database)\b"
    r"|\bpersonal (?:data|information|details)\b|\bpii\b|\bcredit cards?\b|\bcard numbers?\b|\bssns?\b|\bsocial security\b|\bmedical\b|\b(?:health|patient|hr|employee|personnel) (?:records?|data|files?|list)\b"
    r"|\b(?:database|db|production|prod|sql|pg|customers?|users?|crm)[- ](?:dumps?|exports?|backups?)\b|\bid_(?:rsa|ed25519|ecdsa)\b(?!\.pub)|\baws keys?\b|/etc/(?:shadow|passwd)|\bkeychain\b|~/\.(?:ssh|aws|kube|gnupg|netrc|npmrc)\b"
    r"|\bkubeconfig\b|\.(?:pem|p12|pfx|kdbx|jks)\b|\bkeystore\b|\bseed phrase\b|\bmnemonic\b|\bone-time (?:code|password)s?\b|\botps?\b|\b2fa codes?\b|\bpin(?: code)?s?\b|\bsession cookies?\b|\bcookies\b|\bdocument\.cookie\b"
    r"|\bpayroll\b|\bsalar(?:y|ies)\b|\bsource code\b|\bproprietary\b|\bconfidential\b|\binternal (?:docs?|documents?|wiki|memo|roadmap|incident|emails?|code|chat|slides|report)\b|\bprivate (?:messages|chats?|repo\w*|photos)\b"
    r"|\bphone numbers\b|\bhome address\w*\b|\btax returns?\b|\bbank details\b|\bibans?\b|\bpassports?\b|\btrade secrets?\b|\bconnection strings?\b|\benvironment variables\b|\bunreleased\b|\bfinanc(?:e|ial) (?:share|data|records?|folder|files?|statements?|drive|figures)\b|\baccounting (?:data|records?|files?|folder)\b|\bvault\b"
)
OUTWARD = (
    r"\bpaste ?bin\b|\bgists?\b|\bpublic\w*\b|\bweb-?hook\b|\bexternal\b|\battacker\b|https?://|\bftp\b|\bdropbox\b|\bpersonal\b|\bgmail\b|\boutside\b|\bthird[- ]part(?:y|ies)\b|\bdiscord\b|\btelegram\b|\S+@\S+"
    r"|\binternet\b|\bcompetitors?\b|\btwitter\b|\breddit\b|\bforum\b|\bstack ?overflow\b|\bdns (?:query|queries|lookups?|records?|requests?|traffic)\b|\bremote (?:listener|collector)\b|\bcollector\b|\bngrok\b|\btransfer\.sh\b|\bjournalists?\b|\bvendors?\b|\bcontractors?\b|\bsuppliers?\b"
    r"|\bpartners?\b|\b\d{1,3}\.\d{1,3}\.\d{1,3}\.\d{1,3}\b|\bunknown\b|\bmy (?:own|private|laptop|phone|usb|home (?:server|pc|computer|machine|laptop|nas|network|address|mail))\b|\bprivate (?:laptop|drive|mail|e?-?mail|phone|account)\b|\bgoogle (?:drive|docs?)\b|\bwhats-?app\b|\bwechat\b"
    r"|\bcaller\b|\bstranger\b|\bchat-?gpt\b|\bi-?cloud\b|\bone-?drive\b|\busb (?:stick|drive)\b|\bgithub issue\b|\bpull request\b|\bblog\b|\bpress\b|\brecruiters?\b|\bicmp\b|\bcommand and control\b|\bc2\b|\bsupport ticket\b"
    r"|\bthe ticket\b|\bslack\b|\bteams channel\b|\bscreen-?share\b|\byoutube\b|\bfriend\b|\bfacebook\b|\blinkedin\b|\bmega\.nz\b|\bwetransfer\b|\bfreelancers?\b|\boutsiders?\b|\bconsultants?\b|\bagency\b|\b(?:other|another|second|foreign) agents?\b|\bformer (?:employee|colleague)s?\b|\bex-\w+\b|\bapplicants?\b|\bs?ftp server\b|\banyone who asks\b"
)
PEOPLE = (
    r"(?:customers?|users?|subscribers?|clients?|lists?|contacts?|members?|employees|people|everyone|everybody|company|staff|leads|recipients|students|patients|channels?|guests?|contractors?|vendors?|partners?|suppliers?"
    r"|matches|followers|fans|donors|investors|shareholders|board|team|teams|department|office|residents|tenants|drivers|players|parents|voters|applicants|candidates|attendees|participants|merchants|sellers|buyers"
    r"|freelancers|interns|colleagues|friends|connections|workers|engineers|developers|address book|mailing list|organi[sz]ation|numbers|owners|collaborators|moderators|admins|editors|phones|devices|directory|readers)"
)
SOCIAL = (
    r"(?:linkedin|twitter|x\.com|facebook|instagram|reddit|hacker news|tiktok|youtube|mastodon|bluesky|craigslist|ebay|glassdoor|medium|product hunt|discord|the web|company (?:blog|page|account|profile)|blog|news ?room|website|homepage"
    r"|status page|social media|app store|pinterest|threads)"
)
MONEY = r"(?:[$€£¥]\s?\d|\b\d[\d,.]*\s?(?:k|m|thousand|million)?\s?(?:dollars|euros?|usd|eur|btc|eth|gbp|pounds|francs|chf|yen|rupees|bitcoins?|usdc|usdt)\b|\b(?:hundred|thousand|million) (?:dollars|euros|pounds|francs|usd)\b|\b(?:money|funds)\b(?! (?:class|type|module|object)))"
GOODS = (
    r"(?:laptops?|licen[cs]es?|servers?|phones?|monitors?|supplies|hardware|pizzas?|gift cards?|shares|stocks?|domains?|vouchers?|credits|equipment|printers?|desks?|chairs?|tickets?|toner|merchandise|t-shirts?|gpus?|reserved instances?|bitcoins?"
    r"|crypto|groceries|medication|flowers|furniture|cars?|trucks?|vans?|apartment|billboards?|ad space|ads|subscriptions?|savings plans?)"
)

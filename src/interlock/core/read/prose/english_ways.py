"""English ways of saying an act that no single verb gives away, found by the words that begin them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache

from interlock.core.read.prose.english_outward import GOODS, LEAKS, MONEY, OUTWARD, PEOPLE, SECRETS, SOCIAL
from interlock.core.read.prose.english_ways_more import MORE, Way
from interlock.core.read.prose.english_ways_wide import WIDE

_UI = (
    r"(?! ?(?:panel|page|ui|dashboard|menu|docs?|guide|section|route|endpoint|button|view|screen|api|console|area|email|tool|interface|template|site"
    r"|handbook|notes|tests?|header|footer|banner|logo|nav\w*|sidebar|form|layout|icon|link|label|title|text|table|component|styles?|settings|theme"
    r"|colou?rs?|badge|mock-?up|wireframe|prototype|storybook|field|input|selector|dropdown|dialog|modal|toggle|tab|widget|avatar|policy|length|lifetime"
    r"|name|placeholder|hint|help|flow|validation|strength|report|status|history|service|module|gateway|example|column|schema|model|class|type|types|logic))"
)
_NOT_LOCAL = r"^(?!.*\b(?:local\w*|dev|development|tests?|testing|staging|sandbox|docker|my|mock\w*|preview)\b)"
_GROUP = r"(?:team|groups?|org|organi[sz]ation|workspace|allow-?list|white-?list|access list|acl|admins?|owners|maintainers|rotation|channel|vpn|roster|committee)"
_RIGHTS = r"(?:scopes?|access|permissions?|rights|privileges?|role|powers|clearance)"
_LIVE = r"(?:live|prod|production|customer-facing)"

# (beginnings of words of which one must be there, wording, act or "", kind of verb, traits, even behind a verb of making)
WAYS: list[Way] = [
    # deleting
    ("cut trim whittl reduc shrink bring tak pare strip boil get", r"\b(?:cut|trim|whittl|reduc|shrink|bring|tak|pare|strip|boil|get)\w* .{1,60}\bto (?:zero|nothing|none|0)\b", "", "remove", "", True),
    ("los forfeit sacrific", r"\b(?:los(?:e|ing)|forfeit\w*|sacrific\w*) (?:the |my |our |all |any |every )*(?:last|past|today'?s?|yesterday'?s?|unsaved|uncommitted|local|recent|work|changes|commits|edits|history|data)\b", "act_delete", "", "", False),
    ("clean", r"\bclean -\w*[fdx]", "act_delete", "", "", True),
    ("overwrit replac clobber swap fill exchang", r"\b(?:overwrit|replac|clobber|swap|fill|exchang)\w* .{1,80}\b(?:with|by) (?:an? )?(?:completely )?(?:empty|blank|zero-byte|nothing|garbage|junk|random (?:data|bytes))\b(?! (?:string|line|state|list|array|object|div|value|dict|tuple|template))", "act_delete", "", "", False),
    ("say wav bid send mov put consign dump drag toss chuck throw pull", r"\b(?:say|wav|bid)\w* (?:good-?bye|farewell|so long) to\b|\b(?:send|mov|consign|dump|drag|toss|chuck|put|throw|pull)\w* .{1,80}\b(?:to|into|in|on|onto|out of) (?:the )?(?:existence|trash|bin|recycle bin|shredder|void|scrap ?heap|garbage|/dev/null|oblivion|wood ?chipper)\b", "", "destroy", "", False),
    ("leav", r"\bleav\w* .{0,40}\b(?:empty|nothing (?:behind|in)|no (?:rows|data|records|trace|files))\b", "", "remove", "", False),
    ("roll revert restor rewind wind", r"\b(?:roll|revert|restor|rewind|wind)\w* (?!.*migration).{0,40}\b(?:database|db|volume|prod|production|live)\b.{0,40}\b(?:back|to (?:last|yesterday|an? (?:old|earlier))\w*)", "act_delete", "", "production", False),
    ("working checkout copy tree", r"\b(?:roll|revert|reset|restor)\w* .{0,20}\b(?:working (?:copy|tree|directory)|checkout)\b.{0,20}\bback\b", "act_delete", "", "", False),
    ("set updat overwrit chang blank null", r"\b(?:set|updat|overwrit|chang|blank|null)\w*\b.{0,20}\b(?:all|every|each|everyone's|customers'?)\b.{0,50}\b(?:to|with|out) (?:null|zero|empty|blank|0|nothing|xxx\w*|the same)\b", "act_delete", "", "all", False),
    ("flatten level crush steamroll", r"\b(?:flatten|level(?! \d)|crush|steamroll)(?:ing)? (?:(?:the|all|our|every|entire|whole) )*(?:\w+ ){0,2}(?:database|db|cluster|bucket|server|environment|schema|volume|disk)s?\b", "", "wipe", "", False),
    ("rid", r"\b(?:be|am|are|were) rid of\b|\brid (?:the|our|us|ourselves) .{0,40}\bof\b", "", "destroy", "", False),
    ("pull tear yank tak root get", r"\b(?:pull|tear|yank|tak|root)\w* (?:all|every|each|any) .{1,40}\bout of\b|\bget\w* (?:the |all |our )*(?:old|legacy|stale|unused|obsolete|dead|previous) .{1,40}\bout of\b", "", "remove", "", False),
    ("reinstall re-install reimag reflash re-imag", r"\b(?:re-?install|re-?imag|re-?flash)\w* .{0,30}\b(?:operating system|os|windows|ubuntu|debian|server|host|machine|firmware|node)\b", "act_delete", "", "all", False),
    ("go goe", r"\bgo(?:es)?(?: now| today| tonight| too| first| away)?$", "", "destroy", "", False),
    # taking access
    ("pull yank axe cut tak end clos strip", r"\b(?:pull|yank|axe|cut|tak|end|clos|strip)\w* .{0,40}\b(?:access|permissions?|rights|privileges|membership|clearance|credentials)\b(?! (?:logs?|control|list|audit|review))" + _UI, "act_revoke", "", "", False),
    ("nobody no-one none no", r"\b(?:nobody|no-?one|none of \w+)\b.{0,40}\b(?:keeps?|retains?|gets? to keep)\b", "act_revoke", "", "all", False),
    ("mak render put", r"\b(?:mak|render|put)\w* .{1,60}\b(?:inaccessible|unreachable|off[- ]limits)\b", "act_revoke", "", "", False),
    ("set chang drop lower", r"\b(?:set|chang|drop|lower|reduc)\w* .{0,60}\b(?:access|permissions?|role|rights|privileges?|level)\b.{0,30}\bto (?:none|nothing|no access|zero|null|no-?one|nobody)\b", "act_revoke", "", "", False),
    ("tak drop pull boot throw strik cut eject expel oust scratch exclud", r"\b(?:tak|drop|pull|boot|throw|strik|cut|eject|expel|oust|scratch|exclud)\w* .{1,50}\b(?:off|out of|from) (?:the |our |all |every )?(?:\w+ ){0,2}" + _GROUP + r"\b", "act_revoke", "", "", False),
    ("eject expel oust exclud evict turf", rf"\b(?:eject|expel|oust|exclud|evict|turf)\w* (?:out )?(?:the |all |every |any |our )*(?:\w+ ){{0,2}}{PEOPLE}\b", "act_revoke", "", "", False),
    ("nobody no-one none", r"\b(?:nobody|no-?one|none of \w+)\b.{0,40}\b(?:can|should|may|will|must) (?:be able to |ever |still )?(?:reach|access|log ?in|get in|enter|open|see|use)\b", "act_revoke", "", "all", False),
    ("make turn set lock put", r"\b(?:mak|turn|set|lock|put|switch)\w* .{1,40}\b(?:read-?only|view-?only) for (?:everyone|everybody|all|the (?:whole|entire))", "act_revoke", "", "all", False),
    # stopping
    ("reboot re-boot restart power bounc recycl hard", _NOT_LOCAL + r"(?!.*\b(?:not|never|don't|won't|without) (?:\w+ )?(?:re-?boot|restart|bounc|recycl|power)).*\b(?:re-?boot|restart|power[- ]?cycl|bounc|recycl|hard[- ]?boot)\w* .{0,40}\b(?:prod\w*|live|primary|master|database|db|all|every|whole|entire|hypervisor|core|mainframe|cluster|fleet)\b", "act_terminate", "", "undoable", False),
    ("tak put pull mov knock", r"\b(?:tak|put|pull|mov|knock)\w* .{1,50}\b(?:out of (?:service|rotation|commission|operation|its misery)|off ?line|off the (?:air|grid|network|internet|net)|to sleep|dark)\b", "", "stop", "", False),
    ("end", r"\bend(?:ing)? (?:all |every |the |any )*(?:running )?(?:\w+ )?(?:pods?|servers?|instances?|services?|containers?|process(?:es)?|jobs|workers|machines|vms?)\b", "", "stop", "", False),
    ("bring grind com", r"\b(?:bring|grind)\w* .{1,50}\bto (?:a |an )(?:stop|halt|end|standstill)\b", "", "stop", "", False),
    ("mak let get hav forc caus", r"\b(?:mak|let|get|hav|forc|caus)\w* .{1,60} (?:to )?(?:shut down|die|crash|go down|power off|terminate|collapse)\b", "", "stop", "", False),
    ("mak let forc caus", r"\b(?:mak|let|forc|caus)\w* .{1,60} (?:to )?(?:expire|lapse|run out|stop working)\b", "", "expire", "", False),
    ("lights", r"\b(?:lights out|turn(?:ing)? (?:out|off) the lights)\b", "act_terminate", "", "undoable", False),
    # keys
    ("roll cycl recycl re-key rekey burn scrap swap chang", r"\b(?:roll|cycl|recycl|re-?key|burn|scrap|swap|chang)\w* (?:out |over )?(?:(?:all|every|the|our|each|production|prod|root|master|signing|jwt|api|ssh|shared|customer|database|db|admin|deploy|access|service|webhook|encryption|live|secret|private|client|app|bot|bearer|session|host|tls|ssl|wildcard|intermediate|ca|kms|vpn|wireguard|wi-?fi|stripe|github|gitlab|aws|gcp|azure|twilio|slack|openai|sendgrid|paypal|cloudflare|leaked|compromised|current|user's?|\w+'s) )*(?:keys?|tokens?|secrets?|certificates?|certs?|credentials?|passwords?|passphrase)\b" + _UI, "act_invalidate", "", "", False),
    ("forc mak requir", r"\b(?:forc|requir|mak)\w* .{0,40}\b(?:password resets?|re-?log-?ins?|log ?outs?|re-?auth\w*|log ?in again|sign ?in again)\b", "act_invalidate", "", "bulk", False),
    ("render mak", r"\b(?:render|mak)\w* .{1,60}\b(?:unusable|useless|worthless|inoperable|inaccessible|null and void|stop working|unreachable)\b", "", "disable", "", False),
    # settings and guards
    ("reset restor revert return put set", r"\b(?:reset|restor|revert|return|put|set)\w* .{0,50}\b(?:router|firewall|switch|gateway|server|controller|settings?|config\w*|permissions?|polic(?:y|ies)|rules?|dns|network|registry|bios|modem|appliance)\b.{0,40}\bto (?:the |its |their |factory )*(?:defaults?|stock|vendor|out-of-the-box)\b", "act_unconfigure", "", "", False),
    ("retention ttl backup", r"\b(?:set|lower|reduc|shorten|cut|drop)\w* .{0,40}\b(?:retention|backup window|backups?)\b.{0,30}\bto (?:zero|0|one|1|none|nothing|off|never|an? (?:second|minute|hour|day))\b", "act_unconfigure", "", "", False),
    ("loosen relax weaken water lower soften disarm crippl neuter punch defang blunt", r"\b(?:loosen|relax|weaken|water(?:ing)? down|lower|soften|disarm|crippl|neuter|defang|blunt)\w* .{0,40}\b(?:polic(?:y|ies)|firewall|security|defen[cs]es|protections?|controls|encryption|guards?|guardrails?|safeguards?)\b|\bpunch\w* (?:a )?holes?\b.{0,30}\bfirewall", "act_override", "", "", False),
    # silencing people
    ("put add plac throw stick", r"\b(?:put|add|plac|throw|stick)\w* .{1,60}\b(?:on|to|in|into) (?:the |our |a )?(?:\w+ )?(?:block-?list|ban[- ]?list|black-?list|deny-?list|kill ?file|spam list|penalty box|timeout)\b(?! (?:in|of) (?:the )?(?:linter|tests?|config|code|docs|example))", "act_block", "", "", True),
    ("bar barr ban", r"^(?:\w+ )?barr?(?:ing)? (?:the |all |every |user )*.{1,40}\bfrom\b", "act_block", "", "", False),
    ("mut silenc gag timeout", r"(?<!\bthe )(?<!\ba )\b(?:mut(?:e|ing)|silenc(?:e|ing)|gag(?:ging)?|time-?out) (?!.*\b(?:video|audio|sound|notifications?|alerts?|alarms?|warnings?|logs?|mic\w*|tab|tests?|output|track|colou?rs?|linter|errors?)\b)", "act_block", "", "", False),
    # money
    ("approv releas authori", r"\b(?:approv|releas|authori[sz])\w* .{0,50}(?:\b(?:expenses?|expense report|invoices?|payments?|purchases?|purchase order|payroll|loan)\b" + _UI + "|" + MONEY + ")", "act_pay", "", "", False),
    ("salar wage bonus credit pay", r"\b(?:doubl|rais|increas|cut|halv|lower|reduc)\w* .{0,40}\b(?:salar\w+|wages?|bonus\w*|credit limit)\b" + _UI, "act_pay", "", "", False),
    ("transfer hand sign", r"\b(?:transfer|hand(?:ing)? over|sign(?:ing)? over)\w* (?:the |our |this )*(?:\w+ )?(?:domains?|ownership|repository|repo|title|property|deed)\b", "act_unconfigure", "", "", False),
    ("plac submit confirm finali put complet", r"\b(?:plac|submit|confirm|finali[sz]|put(?:ting)? in|complet)\w* (?:the |an |our |a |this |that )?(?:\w+ ){0,3}?(?:orders?|purchase|checkout|booking|bid|trade|reservation)\b(?! (?:of|by|form|page|button|flow|step|component|id|number|field|list|table|items|status|confirmation|email|tests?))", "act_pay", "", "", False),
    ("order buy purchas rent leas hir get", rf"\b(?:order|buy|purchas|rent|leas|hir)\w* (?:\w+ ){{0,3}}?{GOODS}\b", "act_pay", "", "", False),
    ("book reserv", r"\b(?:book|reserv)\w* .{0,50}\b(?:flights?|hotels?|trips?|trains?|tickets?|cruise|rental|airbnb|venue|accommodation|suites?|non-?refundable|seats|taxi|limousine|travel|caterer|catering)\b", "act_pay", "", "", False),
    ("top fund load refill recharg credit deposit", r"\b(?:top(?:ping)? up|fund|refill|recharg|load|credit|deposit)\w* .{0,50}(?:\b(?:wallet|balance|ad account|ads account|prepaid|gift card|budget)\b|" + MONEY + ")", "act_pay", "", "", False),
    ("giv hand pay send return sent refund", r"\b(?:giv|hand|pay|send|return)\w* .{0,60}\b(?:money|deposits?|fees?|funds?|payments?|amount|cash|dollars|euros|price|purchase)\b.{0,20}\b(?:back|return)\b", "act_pay", "", "", False),
    ("accept conced contest clos settl", r"\b(?:accept|conced|settl)\w* .{0,40}\b(?:charge-?backs?|disputes?|claims?|settlement|lawsuit|invoices?|debts?|quote|offer)\b" + _UI, "act_pay", "", "", False),
    ("send transfer mov wir pay remit debit withdraw spend donat invest bid lend loan tip stak", r"\b(?:send|transfer|mov|wir|pay|remit|debit|withdraw|spend|donat|invest|bid|lend|loan|tip|stak)\w*\b.{0,50}" + MONEY, "act_pay", "", "", False),
    ("waiv forgiv write writ credit voucher", r"\b(?:waiv|forgiv|writ)\w* (?:off )?.{0,30}\b(?:fees?|debts?|loans?|invoices?|balance|penalt(?:y|ies)|charges?)\b(?! ?(?:report|page|test|docs|email|template|module|service))", "act_pay", "", "", False),
    ("renew upgrad subscrib sign switch extend", r"\b(?:renew|upgrad|subscrib|switch|sign(?:ing)? up|extend)\w* .{0,50}\b(?:licen[cs]es?|subscriptions?|lease|contract|(?:paid|premium|enterprise|pro|business|annual|yearly) (?:plan|tier|subscription|account))\b" + _UI, "act_pay", "", "", False),
    ("sign countersign execut agree enter", r"\b(?:sign|countersign|agree to|enter into)(?:ing)? (?:off on )?(?:the |a |an |our |this )?(?:\w+ ){0,3}?(?:contract|agreement|nda|lease|waiver|deed|term sheet|letter of intent|terms and conditions|mortgage)\b", "act_pay", "", "", False),
    ("budget bid", r"\b(?:rais|increas|doubl|tripl|lift)\w* .{0,40}\b(?:ad|ads|campaign|daily|marketing|spend\w*) (?:budget|spend|bids?|limit)\b", "act_pay", "", "", False),
    # accounts
    ("fir lay let dismiss sack", r"\b(?:fir(?:e|ing)|lay(?:ing)? off|dismiss\w*|sack\w*) (?:the |all |our |every )*(?:\w+ ){0,2}(?:employees?|staff|contractors?|workers|team|people)\b", "act_account", "", "", False),
    # checks
    ("merg commit push deploy ship releas run proceed publish continu land roll", r"\b(?:merg|commit|push|deploy|ship|releas|run|proceed|publish|continu|land|roll)\w*\b.{0,60}(?:--no-verify|--force\b(?!-)|--admin\b|\b(?:despite|although|though|even (?:if|though)|in spite of|regardless of|notwithstanding|while|with|before) .{0,40}\b(?:fail\w*|red|reject\w*|deni\w*|warn\w*|not (?:pass|green)\w*|unapproved|complain\w*|veto\w*|object\w*)\b|\bwithout (?:\w+ ){0,3}(?:reviews?|approvals?|tests?|testing|checks?|permission|sign-?off|confirmation|consent|asking)\b)", "act_override", "", "forced", True),
    ("anyway regardless nonetheless nevertheless", r"\b(?:merg|deploy|push|ship|releas|proceed|delet|send|continu|install|commit|appl)\w* .{0,40}\b(?:anyway|regardless|nonetheless|nevertheless)\b", "act_override", "", "forced", True),
    ("directly straight", r"\b(?:push|commit|merg|deploy)\w* (?:\w+ ){0,3}?(?:directly|straight) (?:to|into|on|onto) (?:main|master|prod\w*|trunk|release|live)\b", "act_override", "", "forced", True),
    ("comment", r"\bcomment(?:ing)? out .{0,40}\b(?:auth\w*|validation|checks?|permission|security|guard\w*|verification|encryption)\b", "act_override", "", "", True),
    ("self approv rubber", r"\bself-?approv\w*|\bself approv\w*|\bapprov\w* (?:my|your|its|our|his|her|their) own\b|\brubber-?stamp\w*", "act_override", "", "forced", True),
    ("disregard ignor neglect overrid overrul defy flout work find get go sneak around", r"\b(?:disregard|ignor|neglect|overrid|overrul|defy|flout|brush|wav|work(?:ing)? around|get(?:ting)? (?:around|past)|go(?:ing)? (?:around|behind)|sneak(?:ing)? (?:around|past)|slip(?:ping)? past)\w* (?:aside )?(?:the |a |an |any |all |our |this |that |its )*(?:\w+ ){0,2}(?:deny|denial|denied|decision|refusal|veto|verdict|rejection|hold|block|freeze|lock|stop|objections?|policy|policies|guard\w*|approvals?|reviewers?|restrictions?|limits?|quota|permissions?|sandbox|checks?|filters?|warnings? (?:from|of) (?:the )?(?:security|safety|guard)|rules|safety|safeguards?|controls?)\b" + _UI, "act_override", "", "forced", False),
    ("never mind without regardless matter", r"\b(?:never ?mind|forget(?: about)?|screw|to hell with|regardless of|no matter|who cares about) (?:the |any |what )*(?:\w+ )?(?:approvals?|reviews?|checks?|polic(?:y|ies)|rules|permissions?|sign-?off|confirmation|warnings?|freeze|limits?)\b", "act_override", "", "forced", False),
    ("pretend fak forg spoof impersonat tamper falsif backdat doctor", r"\b(?:fak|forg|falsif|backdat|spoof|tamper|doctor)\w* (?:with )?(?:the |a |an |all )*(?:\w+ ){0,3}(?:approvals?|signatures?|results?|logs?|reports?|tickets?|checks?|records?|evidence|timestamps?|audit\w*|identit(?:y|ies)|invoices?)\b|\bimpersonat\w+ .{0,40}\b(?:admin\w*|users?|customers?|ceo|owner|employee|account|someone|root)\b", "act_override", "", "forced", False),
    ("edit chang modif adjust tweak updat patch rewrit", r"\b(?:edit|chang|modif|adjust|tweak|updat|patch|rewrit)\w* .{0,50}\b(?:polic\w+|guard\w*|rules?|allow-?list|hooks?|permissions?|settings)\b.{0,40}\bso (?:that )?(?:my|it|i|the|this|we)\b.{0,40}\b(?:allowed|pass|passes|permitted|approved|no longer|stops?|never|through)\b", "act_override", "", "forced", False),
    # rights
    ("creat add set register provision mak", r"\b(?:creat|add|set(?:ting)? up|register|provision|mak)\w* (?!.*\b(?:fixtures?|seeds?|tests?|mock\w*|story|docs?|schema|factory|sandbox|local|mockup|page|button)\b).{0,30}\b(?:admin|administrator|root|superuser|owner|sudo)[- ](?:users?|accounts?|logins?)\b" + _UI, "act_escalate", "", "", True),
    ("put add append insert edit modif writ chang drop plac sneak slip", r"\b(?:put|add|append|insert|edit|modif|writ|chang|drop|plac|sneak|slip)\w*\b.{0,80}(?:\b(?:in|into|to|in the) (?:the )?|\b|/)(?:/etc/)?(?:sudoers|authorized_keys|domain admins|enterprise admins|administrators group|wheel group|system:masters)(?![\w.]|/| (?:template|example|docs))", "act_escalate", "", "", True),
    ("mount bind start run launch giv", r"--privileged\b|\bprivileged (?:container|pod|mode)\b|\bdocker\.sock\b|\bhost'?s? (?:root|filesystem|docker socket)\b|\bcap_sys_admin\b|\bset-?uid\b|\bhostpath\b", "act_escalate", "", "", False),
    ("turn upgrad extend widen expand broaden rais add giv grant rewrit swap", r"\b(?:turn|upgrad|extend|widen|expand|broaden|rais|giv|grant|elevat)\w*\b.{0,60}\b(?:write|admin|full|unrestricted|unlimited|broader|wider|elevated|higher|maximum|all|every|root|owner|editor|maintainer)[- ]" + _RIGHTS + r"\b" + _UI, "act_escalate", "", "", True),
    ("log sign login run runas use act switch open start becom impersonat assum", r"\b(?:log(?:ging)?|sign(?:ing)?)[- ]?(?:in|on|into) .{0,30}\bas (?:the |an? )?(?:root|admin\w*|superuser|system|owner|domain admin)\b|\brunas\b|\belevated (?:\w+ )?(?:powershell|shell|prompt|terminal|command|session|cmd|rights|privileges)\b|\bas (?:the )?(?:root|administrator|superuser|local system|nt authority)\b(?! (?:cause|element|node|directory|path|span))|\bassum\w* (?:the |an? )?(?:\w+ )?(?:admin\w*|root|owner|break-?glass|poweruser) role\b", "act_escalate", "", "", False),
    ("open expos allow mak let", r"\b(?:open|expos|let|allow|mak)\w*\b.{0,50}\b(?:to|for|in) (?:the )?(?:whole |entire |open |public )*(?:world|internet|anyone|everyone|everybody|public|0\.0\.0\.0)\b", "act_escalate", "", "public", False),
    ("enabl allow permit turn switch", r"\b(?:enabl|allow|permit|turn(?:ing)? on|switch(?:ing)? on)\w* .{0,30}\b(?:root log-?in|password auth\w*|anonymous|guest access|passwordless|telnet|public access|remote root|directory listing|unauthenticated)\b", "act_escalate", "", "public", True),
    ("attach bind assign", r"\b(?:attach|bind|assign)\w* .{0,40}\b(?:administrator-?access|admin\w*|full-?access|poweruser\w*|cluster-admin|owner role)\b" + _UI, "act_escalate", "", "", False),
    ("put expos plac host", r"\b(?:put|expos|plac|host)\w* .{1,50}\b(?:on|to|onto) (?:the )?(?:public |open )*(?:internet|web)\b", "act_escalate", "", "public", False),
    # secrets
    (LEAKS, rf"\b(?:send|upload|post|publish|shar|past|forward|cop(?:y|i)|export|transmit|e?-?mail|push|leak|exfiltrat|dump|submit|expos|put|sync|stream|hand|deliver|commit|print|curl|wget|scp|rsync|ftp|tell|reveal|read|dictat|encod|zip|tar|attach|includ|embed|stick|drop|beam|ship|relay|mov|giv|pip|text|pass|whisper|writ|show|plac|stash|sneak|smuggl|feed|mirror|replicat)\w*\b.{{0,60}}(?:{SECRETS}).{{0,80}}\b(?:to|on|in|into|onto|at|with|via|over|as|for|through|inside|toward\w*)\b.{{0,60}}(?:{OUTWARD})", "act_leak", "", "secret", True),
    ("tell giv read reveal dictat disclos hand text", rf"\b(?:tell|giv|read|reveal|dictat|disclos|hand|text)\w* (?:out |over )?.{{0,40}}\b(?:caller|stranger|customer|client|vendor|recruiter|journalist|someone|them|him|her|anyone|competitor|other|partner|ex)\b.{{0,40}}(?:{SECRETS})", "act_leak", "", "secret", False),
    ("publish mak turn releas post open", r"\b(?:publish|mak|turn|releas|post|open)\w*\b.{0,30}\b(?:internal|private|confidential|unreleased|secret|sensitive|proprietary|employee|personal)\b.{0,50}\b(?:public\w*|open source|to the (?:world|press|web))\b", "act_leak", "", "", False),
    ("print echo log dump output writ", rf"\b(?:print|echo|log|dump|output|writ)\w* .{{0,30}}(?:{SECRETS}).{{0,30}}\b(?:to|in|into) (?:the )?(?:build|ci|job|public|pipeline|shared|workflow) (?:logs?|console|output|chat|channel)\b", "act_leak", "", "secret", True),
    ("forward send cop export sync redirect mirror upload mov", r"\b(?:forward|send|cop|export|sync|redirect|mirror|upload|mov)\w* .{0,60}\b(?:mailbox|inbox|e?-?mails?|files?|photos|recordings|repo\w*|codebase|data|documents|drive|folder|contacts|messages|chats?|transcripts?|dump|database|table|logs|backups?)\b.{0,40}\bto (?:an? |the |my |some |his |her |our )?(?:\w+ )?(?:(?:external|outside|third[- ]party|unknown|competitor\S*|attacker\S*)\b(?! (?:drive|disk|hard|monitor|display))|(?:personal|private) (?:e?-?mail|address|account|drive|dropbox|laptop|gmail|phone|server|bucket|cloud|onedrive|icloud))", "act_leak", "", "", False),
    # unknown code
    ("run execut install open load start us try follow do", r"\b(?:run|execut|install|open|load|start|us|try|follow|do)\w* .{0,40}\b(?:someone|somebody|stranger|commenter|web ?page|website|attacker|unknown \w+) (?:\w+ )?(?:posted|sent|attached|shared|linked|tells?|says?|suggested|uploaded|provided|gave|left)\b", "act_run", "", "", False),
    ("run execut apply launch start kick exec replay fire", r"\b(?:run|execut|apply|launch|replay|fire)\w*\b(?!.*\b(?:read-?only|select|explain|report|smoke|health|dry|analy\w+|status|tests?|linter)\b).{0,60}(?:\b(?:script|migrations?|statements?|batch|playbook|backfill|quer(?:y|ies))\b|\S\.(?:sh|py|sql|js|rb|pl|ps1)\b).{0,40}\b(?:on|against|in|over|to|at) (?:the |our )?(?:\w+ )?" + _LIVE + r"\b", "act_run", "", "", False),
    ("load install insmod add sideload open start run use plug enabl", r"\b(?:load|install|add|sideload|insmod|run|start|open|execut|plug|us)\w*\b.{0,50}\b(?:unsigned|untrusted|unverified|unknown|cracked|pirated|random|shady|unvetted|suspicious)\b|\b(?:load|install|sideload|run|execut|start|open|pull|us)\w*\b.{0,60}\b(?:module|driver|binary|package|plugin|extension|script|program|exe|executable|installer|tool|attachment|image|apk|code)\b.{0,50}\bfrom (?:an? |the |some |that |his |her |their )?(?:\S+ )?(?:forum|pastebin|gist|stranger|telegram|discord|comment|email|e-mail|mail|chat|torrent|usb stick|reddit|tweet|issue|post|link|dm|unknown \w+)\b|\benabl\w* (?:the )?macros\b", "act_run", "", "", False),
    ("netcat bind backdoor rootkit keylogg cryptomin miner malware ransom meterpreter webshell web trojan botnet worm listener", r"\b(?:netcat|nc) (?:listener|shell)|\b(?:bind|web|remote|backdoor)[- ]?shell\b|\b(?:plant|install|add|deploy|run|start|drop|set(?:ting)? up|creat|leav|inject|launch|load|open|build|writ|hid)\w*\b.{0,40}\b(?:back-?door|root-?kit|key-?logger|crypto-?miner|miner|malware|ransomware|meterpreter|trojan|botnet|worm|logic bomb|netcat|spyware)\b", "act_run", "", "", True),
    ("feed pip pass send stream eval exec past run execut", r"\b(?:feed|pip|pass|send|stream|past|hand|throw)\w*\b.{0,60}\b(?:output|response|input|reply|answer|text|body|string|blob|payload|completion|suggestion)\b.{0,30}\b(?:to|into|through) (?:an? |the )?(?:psql|bash|sh|eval|exec|shell|python|mysql|database|interpreter|terminal|zsh|powershell|sudo|root)\b|\beval\w*\b .{0,40}\b(?:response|input|output|string|payload|text|body)\b", "act_run", "", "", False),
    ("plant sneak slip hid inject implant smuggl", r"\b(?:plant|sneak|slip|hid|inject|implant|smuggl)\w* .{0,40}\b(?:cron\w*|scripts?|hooks?|keys?|code|startup|entry|user|account|command|payload|job|prompt|instructions?)\b(?! (?:from|behind|icon|button))", "act_run", "", "", False),
    ("cron crontab autostart startup launchd schedul login registry boot", r"\b(?:that|to|which|and)\b.{0,30}\b(?:pull|download|fetch|curl)\w*\b.{0,30}\b(?:run|exec)\w*\b|\b(?:cron\w*|launchd|autostart|startup|registry|systemd)\b.{0,50}\b(?:at|on|after) (?:every |each |system )?(?:boot|login|start-?up|reboot)\b", "act_run", "", "", True),
    ("run execut eval launch", r"\b(?:run|execut|eval|launch)\w* .{0,30}\b(?:remote|arbitrary|received|embedded|supplied|foreign|attached|external|injected|downloaded) (?:payload|code|script|commands?|binary|macro)\b|\b(?:run|execut|eval)\w* .{0,30}\b(?:code|commands?|script|instructions?|string|text)\b.{0,30}\b(?:in|from|inside|of|through|via) (?:the |a |an |this |that )?(?:\w+(?:'s)? )?(?:message|e?-?mail|chat|comment|issue|page|prompt|response|reply|sh|bash|eval|shell|ticket|attachment)\b", "act_run", "", "", False),
    ("downloaded attached untrusted fetch download grab curl", r"\b(?:downloaded|attached|untrusted) (?:macro|program|tool|plugin|file|app)\b.{0,20}\b(?:run|execut)|\b(?:fetch|download|pull|grab|curl|get)\w* and (?:then )?(?:run|execut|eval|launch)\w*", "act_run", "", "", False),
    # shared history
    ("forc", r"\bforc(?:e|ing) (?:the |a |my |this )?push(?!ed\b)", "act_rewrite", "", "forced", True),
    ("branch", r"\b(?:overwrit|clobber)\w* (?!.*\b(?:local|test|my)\b.*branch).{0,30}\bbranch\b.{0,20}\bwith\b", "act_rewrite", "", "", False),
    ("undo revert drop remov discard revers", r"\b(?:undo|revert|drop|remov|discard|revers)\w* .{0,30}\b(?:everybody|everyone|others?|team)(?:'s?)? .{0,20}\b(?:commits|changes|work)\b", "act_rewrite", "", "", True),
    ("squash rebas amend rewrit replac filter collaps flatten overwrit forc push reset", r"\b(?:squash|rebas|collaps|flatten|filter|amend|rewrit|eras|wip)\w* (?:the |all |our |its |entire |whole |complete |git |commit |repo'?s? |public |shared |published |\S+'s )+(?:history|commits)\b|\b(?:replac|overwrit|clobber|reset|mov|rewind|swap)\w* (?:the |our )?(?:contents? of )?(?:remote |origin/|upstream/|shared |published |protected )*(?:main|master|trunk|develop|release\S*|remote) (?:branch )?(?:with|on|by|back|to (?:an? )?(?:older|earlier|previous))\b|\bpush\w* .{0,60}\b(?:by force|no matter what|even if it (?:overwrites|rewrites|diverge\w*)|with lease disabled)\b", "act_rewrite", "", "", False),
    # messages to people
    ("publish releas push upload ship submit", r"\b(?:publish|releas|upload|push|ship|submit)\w*\b.{0,60}\b(?:to|on|in) (?:the )?(?:npm|pypi|crates\.io|maven(?: central)?|nuget|rubygems|docker ?hub|(?:app|play|chrome web|google play) store|(?:vs ?code )?marketplace|packagist|hex\.pm|homebrew|testflight|public registry)\b", "act_send", "", "bulk", False),
    ("post tweet publish shar announc upload put advertis reply comment livestream", rf"\b(?:post|tweet|publish|shar|announc|upload|put|advertis|livestream|broadcast)\w*\b.{{0,80}}\b(?:publicly|(?:on|to|in|via) (?:the |our |my )?(?:company'?s? |official |corporate )*{SOCIAL})\b", "act_send", "", "bulk", False),
    ("spam", r"\bspam(?:ming)? (?:the |our |all |every)", "act_send", "", "bulk", False),
    ("tweet toot", r"\b(?:tweet|toot)(?:ing)? (?!button|embed|component|card)", "act_send", "", "bulk", False),
    ("behalf name", r"\b(?:on behalf of|in the name of|under the name of) (?:the |our )?(?:\w+ )?(?:company|ceo|cfo|customer|client|boss|board|manager|owner|team)\b", "act_send", "", "bulk", False),
    ("reply repl cc-", r"\b(?:reply|replies|replying|respond\w*)[- ](?:to )?all\b", "act_send", "", "bulk", False),
    ("press news media journalist regulator reporter police authorit subpoena lawsuit", r"\b(?:send|mail|e-?mail|issu|releas|publish|tip|call|contact|fil|leak|brief|pitch|notif)\w*\b.{0,50}\b(?:press release|news ?wire|the press|the media|journalists?|reporters?|regulators?|the police|the authorities|lawsuit|legal complaint)\b", "act_send", "", "bulk", False),
    ("email e-mail mail messag notif text sms ping contact send blast spam announc tell invit call page alert writ fax push dm whatsapp cold", rf"\b(?:e-?mail|mail|messag|notif|text|sms|ping|contact|send|blast|spam|announc|tell|invit|call|page|alert|fax|push|dm|whatsapp|cold-?call|writ(?:e|ing) to)\w*\b.{{0,60}}\b(?:all|every|each|entire|whole|everyone|everybody|full|thousands|hundreds|\d[\d,.]{{2,}})\b.{{0,40}}\b{PEOPLE}\b", "act_send", "", "bulk", False),
    ("unlock open disarm", r"\b(?:unlock|disarm|open)\w* (?:the |our |all )*(?:\w+ ){0,2}(?:doors?|garage|gates?|alarm system|safe|vault door|turnstiles?|burglar alarm|home alarm)\b" + _UI, "act_override", "", "", False),
    ("format", r"\bformat(?:ting)? (?:drive |disk )?[c-h]$", "act_disk", "", "all", False),
    ("zero dban blank initiali", r"\b(?:zero|zeroi[sz]e|zero-?fill|dban|blank|initiali[sz]e)(?:ing|e)? (?:out )?(?:the |all |every |both )*(?:\w+ ){0,3}(?:disks?|drives?|ssds?|partitions?|sectors|usb|nvme|block devices?)\b", "act_disk", "", "all", False),
    *MORE,
    *WIDE,
]  # fmt: skip


@cache
def _index() -> tuple[dict[str, dict[str, list[int]]], list[re.Pattern[str]]]:
    """The first three letters of a word -> the beginnings that start so, and which wording each of them stands for."""
    table: dict[str, dict[str, list[int]]] = {}
    for number, way in enumerate(WAYS):
        for cue in way[0].split():
            table.setdefault(cue[:3], {}).setdefault(cue, []).append(number)
    return table, [re.compile(way[1]) for way in WAYS]


def ways(text: str) -> Iterator[tuple[int, Way]]:
    """The ways of saying an act that are in a clause in lower case, each with its place."""
    table, patterns = _index()
    wanted: set[int] = set()
    for word in text.split():
        for cue, numbers in table.get(word[:3], _NONE).items():
            if word.startswith(cue):
                wanted.update(numbers)
    for number in sorted(wanted):
        match = patterns[number].search(text)
        if match:
            yield match.start(), WAYS[number]


_NONE: dict[str, list[int]] = {}

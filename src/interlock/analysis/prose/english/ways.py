"""English phrases that announce an effect without a single telling verb, found by the words that begin them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache

from interlock.analysis.prose.english import GOODS, LEAKS, MONEY, OUTWARD, PEOPLE, SECRETS, SOCIAL

# What comes from elsewhere, and who wrote it nobody knows.
_ELSEWHERE = (
    r"(?:web ?page|page|site|website|e?-?mails?|mail|api|response|reply|download\w*|forum|chat|ticket|issue|comment|url|link|gist|paste ?bin|message|feed|webhook|attachment|stranger|internet"
    r"|llm|model|user input|user-supplied|form field|server (?:sends|returns|answers)|remote)"
)
_CALLS_CODE = r"(?:eval\w*|exec(?:\(\))?|execut\w*|os\.system|system\(\)|subprocess\S*|invoke-expression|iex|popen|child_process\S*|shell_exec|run\w*|interpret\w*)"
_NOT_CODE = r"(?!.{0,120}\b(?:tests?|tutorial|example|linter|lint|mock\w*|fixture|benchmark|quer(?:y|ies)|search|report|docs?)\b)"
_CONFIG = (
    r"(?:(?:prod\w*|live|server'?s?) (?:\S+ )?(?:\.env\b|env(?:ironment)? file|config\w*|settings|secrets|values)"
    r"|(?:guard|gatekeeper|interlock|watchdog|policy|firewall|safety|hook)(?:'?s)? (?:own |\S+ )?(?:config\w*|settings|rules?|polic(?:y|ies)|file))"
)
_FILES = r"(?:nginx\.conf|httpd\.conf|sshd_config|haproxy\.cfg|hosts file|/etc/\S+|resolv\.conf|fstab|my\.cnf|postgresql\.conf|pg_hba\.conf|redis\.conf)"
_OTHERS = r"(?:colleagues?'?s?|others?'?|other people'?s|somebody(?: else)?'s|someone(?: else)?'s|teammates?'?s?|co-?workers?'?s?|everyone(?: else)?'s|everybody'?s|the team'?s|their|his|her)"
_RULE = r"(?:two-person|two-man|four-eyes|dual-control|separation[- ]of[- ]duties|approval|review|spending|rate|access|retention|security|safety|branch|merge|change|deploy\w*|mfa|2fa|password|export)"
_ANYONE = r"(?:anonymous(?:ly)?(?: \w+)?|unauthenticated(?: \w+)?|guests?(?: \w+)?|everyone|everybody|anybody|anyone|allusers|public|the default role|all users|any user|the whole company|any caller)"

Way = tuple[str, str, str, str, str, bool]
# What is stored somewhere, and what is only shown.
_STORED = r"(?:snapshots?|backups?|objects?|records?|rows?|versions?|files?|releases?|images?|artifacts?|logs?|messages?|e?-?mails?|entries|branches|dumps?|archives?|data|events?|tables?|tags?|deployments?|orders?|invoices?|uploads?)"
_SHOWN = r"(?!.{0,40}\b(?:outputs?|report|summary|chart|graph|draft|view|page|docs?|documentation|list|answer|reply|table of|dropdown|widget|example|prompt|print|printed|shown|display\w*|memory)\b)"
_EXTRA = r"(?:what(?:ever|soever)?|everything|anything|all|files?|objects?|those) (?:that |which )?(?:is |are |does |do )?(?:not|isn't|aren't|no longer|missing|extra|absent|doesn't|don't|only)\b"

MORE: list[Way] = [
    # what remains says what goes
    ("keep retain preserv leav hold", rf"\b(?:keep|retain|preserv|leav|hold)\w* (?:only|just|solely|nothing (?:but|older|except|from)|no more than|none but) .{{0,40}}\b{_STORED}\b{_SHOWN}|\bretain\w* nothing\b{_SHOWN}", "act_delete", "", "bulk", True),
    ("only just", rf"\b(?:only|just) (?:keep|retain|preserve)\w* .{{0,40}}\b{_STORED}\b{_SHOWN}", "act_delete", "", "bulk", True),
    ("mirror sync rsync cop upload push robocopy replicat", rf"\b(?:mirror|sync\w*|rsync|cop(?:y|ies|ying)|upload|push|robocopy|replicat)\w* .{{0,80}}(?:--delete(?:-after|-before|-excluded|-during)?\b(?!-)|/mir\b|--mirror\b|(?<!without )(?<!not )\bdeleting {_EXTRA})", "act_delete", "", "bulk", True),
    ("remov delet eras drop purg clear", rf"\b(?:remov|delet|eras|drop|purg|clear)\w* {_EXTRA}", "act_delete", "", "bulk", False),
    ("run execut trigger launch start kick fir", r"\b(?:run|execut|trigger|launch|start|kick|fir)\w* .{0,30}\b(?:clean-?up|purge|prune|wipe|retention|housekeeping|deletion|reset)(?: \w+)? (?:job|script|task|routine|procedure|lambda|workflow|pipeline)\b.{0,30}\b(?:prod\w*|live)\b", "act_delete", "", "production", False),
    ("point aim direct unleash train sic let set turn", r"\b(?:(?:point|aim|direct|unleash|train|sic)\w*|(?:let|set|turn)\w*(?= .{0,40}\bloose\b)) .{0,30}\b(?:(?:clean-?up|purg\w+|prun\w+|wip\w+|retention|housekeeping|delet\w+|eras\w+|reset)(?: \w+)? (?:job|script|task|routine|procedure|lambda|workflow|pipeline|tool)|janitor|reaper|purger)\b.{0,12}\b(?:at|on|against) (?!.*\b(?:test|staging|dev|local\w*|sandbox|mock\w*|fixture\w*|page|docs?)\b)", "act_delete", "", "bulk", False),
    ("get getting", r"\bget(?:ting)? (?:the |our |my |a )?(?:\w+ )?(?:intern|bot|agent|user|account|contractor|team|everyone|everybody|him|her|them|me|us|robot|runner|job|service|colleague|vendor|guy)s? (?:root|admin|administrator|owner|superuser|sudo)\b", "act_escalate", "", "", False),
    ("let letting", r"\blet(?:ting)? (?:in )?(?:the )?(?:whole |entire )?(?:world|internet|public|anyone|anybody|everyone|everybody)(?: else)? (?:in|into|onto|through|at|to)\b(?! (?:the (?:team|meeting|secret|room|discussion)|know))", "act_escalate", "", "public", False),
    ("set put switch flip turn", r"\b(?:set|put|switch|flip|turn)\w* .{1,40}\bto (?:permissive|off|disabled|(?:log|audit|warn|report)[- ]only)\b", "", "disable", "", False),
    ("lower reduc set drop cut", r"\b(?:lower|reduc|set|drop|cut)\w* .{0,40}\b(?:approvals?|reviews?|reviewers)\b.{0,20}\bto (?:zero|0|none|nothing)\b", "act_override", "", "forced", False),
    ("merg", r"\bmerg\w* .{0,20}\b(?:with|using) (?:my |the )?(?:admin|owner|root|maintainer)(?:'?s|istrator)? (?:rights|override|privileges|powers|permissions?)\b", "act_override", "", "forced", True),
    ("spin launch provision boot start creat request rent", r"\b(?:spin(?:ning)? up|launch|provision|boot|start|creat|request|rent)\w* .{0,30}\b(?:\d{2,}|five|six|seven|eight|nine|ten|twelve|twenty|fifty|dozens?|hundreds)\b.{0,40}\b(?:gpus?|a100s?|h100s?|biggest|largest|bare[- ]metal|\d*xlarge)\b", "act_pay", "", "bulk", False),
    # running what came from elsewhere
    ("eval exec os.system invoke-expression iex popen subprocess shell_exec child_process", rf"\b(?:eval\w*|exec(?:\(\))?|os\.system|invoke-expression|iex|popen|shell_exec|subprocess\S*|child_process\S*)\b{_NOT_CODE}.{{0,50}}\b(?:whatever|text|string|strings|code|commands?|body|output|contents?|it|answer|snippet|script|javascript|js|python|payload|expression|function|macro)\b.{{0,50}}\b{_ELSEWHERE}\b", "act_run", "", "", False),
    ("whatever anything everything what", rf"\b{_CALLS_CODE} {_NOT_CODE}(?:whatever|anything|everything|what)\b(?: code| commands?)?.{{0,40}}\b(?:returns?|sends?(?: back)?|sent|says?|replies|answers|contains?|posts?|posted|serves?|suggests?|wants?|asks?)\b", "act_run", "", "", False),
    ("npx pip pipx uvx bunx npm yarn pnpm go cargo gem docker", r"\b(?:npx|pipx?|uvx|bunx|npm|yarn|pnpm|cargo|gem|docker)(?: (?:install|run|exec|dlx|add|pull))? (?:an? |the |some |this )?(?:unknown|random|untrusted|unverified|unvetted|shady|stranger'?s|anonymous)\b", "act_run", "", "", False),
    ("~/. .bash .zsh .profile crontab rc.local autoexec startup", r"\b(?:append|add|put|insert|writ)\w* .{0,60}(?:\.bashrc|\.zshrc|\.profile|\.bash_profile|crontab|rc\.local|autoexec|startup (?:file|folder|script))\b.{0,40}\b(?:load|sourc|pull|fetch|download|run|curl|execut)\w*", "act_run", "", "", True),
    ("hook hooks", r"\b(?:put|install|add|plac|drop|plant|set)\w* .{0,30}\b(?:post|pre)-\w+ hooks?\b.{0,40}\b(?:on|for|across) (?:every|all|each|everybody'?s?|everyone'?s?)\b", "act_run", "", "bulk", True),
    ("toss chuck sling fling", r"\b(?:toss|chuck|sling|fling)\w* (?:out |away )?(?:all|every|each|the (?:whole|entire|old))\b(?!.*\b(?:into|onto|in an?|together|errors?|exceptions?)\b)", "", "destroy", "", False),
    # stopping, holding, voiding
    ("put plac impos slap set", r"\b(?:put|plac|impos|slap)\w* (?:an? )?(?:immediate |permanent |hard |full )*(?:stop|halt|block|freeze|ban|embargo) (?:on|to) .{0,30}\b(?:mails?|emails?|messages?|calls?|traffic|users?|members?|accounts?|customers?|senders?|partners?|posts?|logins?)\b", "act_block", "", "", False),
    ("put plac", r"\b(?:put|plac)\w* .{0,30}\b(?:drivers?|users?|customers?|accounts?|members?|sellers?|merchants?|employees|contractors?|vendors?|clients?|tenants?|subscribers?|players?|workers|staff|students?|org\w*)\b.{0,20}\b(?:on|under) (?:hold|ice|suspension|leave|quarantine|lockdown)\b", "", "suspend", "", False),
    # overwriting settings and other people's work
    ("overwrit clobber replac blank rewrit sav truncat empt stomp past cop swap", rf"\b(?:overwrit|clobber|replac|blank|rewrit|truncat|empt|stomp|swap)\w* (?:out |over |on )?(?:the |our |all |its )*(?:\S+ ){{0,2}}?{_CONFIG}(?! (?:example|template|docs?|section))", "act_unconfigure", "", "", False),
    ("overwrit clobber blank truncat empt", rf"\b(?:overwrit|clobber|blank|truncat|empt)\w* (?:out )?(?:the |our |all |its )*(?:\S+ ){{0,2}}?{_FILES}", "act_unconfigure", "", "", False),
    ("replac rewrit swap", rf"\b(?:replac|rewrit|swap)\w* (?:out )?(?:the |our |all |its )*(?:\S+ ){{0,2}}?{_FILES} (?:on|of) (?!(?:my|the docs?|the example)\b)", "act_unconfigure", "", "", False),
    ("chang edit alter modif tamper poison rewrit", r"\b(?:chang|edit|alter|modif|tamper|poison|rewrit|redirect)\w* (?:with )?(?:the |our |my )*(?:\S+ ){0,2}?(?:hosts file|resolv\.conf|/etc/hosts|dns (?:records?|zone|entry))\b.{0,30}\bso (?:that )?", "act_unconfigure", "", "", False),
    ("over top", rf"\b(?:sav|past|cop|writ|dump|generat|creat|regenerat|stor|put|install|ssh-keygen)\w* (?:.{{1,50}}\b)?(?:over|on top of) (?:the |my |all |of |our )*(?:{_OTHERS}|(?:only|last|original|existing|production|live|old|current|previous)) (?!.*\b(?:slides?|draft|placeholder|picture|drawing|illustration|scene|image|canvas|mock-?up|layer|years?|months?|weeks?|days?|days)\b)", "act_delete", "", "", True),
    ("overwrit clobber replac", r"\b(?:overwrit|clobber|replac)\w* (?:what|everything|all|whatever|the commits?|the work|the changes)(?: that)? (?:the |of the |by the |my )*(?:others?|team|colleagues?|everyone|everybody|somebody|teammates?|rest|they)\b", "act_rewrite", "", "", False),
    # shared history
    ("filter-repo filter-branch bfg git-filter-repo", r"\b(?:git-)?filter-(?:repo|branch)\b.{0,20}\b(?:on|over|across|against|in)\b|\b(?:run|us|execut|let)\w* (?:the )?(?:bfg|filter-repo|filter-branch)\b", "act_rewrite", "", "", False),
    ("rewind reset wind roll mov mirror-push push", r"\b(?:rewind|wind|roll|mov|reset)\w* (?:back )?(?:the )?(?:origin|upstream|remote)/\S+ (?:back )?to\b|\bmirror[- ]?push\w* .{0,40}\b(?:over|on|onto|to)\b|\bpush\w* .{0,30}--mirror\b", "act_rewrite", "", "forced", False),
    # rights and rules
    ("suid setuid sgid sticky", r"\b(?:set|add|turn|put|giv|flip)\w* .{0,20}\b(?:suid|setuid|sgid|setgid)\b", "act_escalate", "", "", True),
    ("action actions resource resources", r"\b(?:writ|creat|add|attach|appl|set|put|giv|us|chang|updat|mak)\w*\b.{0,60}\b(?:actions?|resources?) (?:set to |to |= ?|: ?)?\*", "act_escalate", "", "all", True),
    ("let allow permit giv grant enabl", rf"\b(?:let|allow|permit|giv|grant|enabl)\w* (?:the )?{_ANYONE}\b.{{0,20}}\b(?:(?:read and write|write|edit|delete|modify)\b(?! (?:an?|their|his|her|its|own)\b)|access to (?:all|every)|full|admin\w*|all (?:tables|buckets|files|data)|every (?:table|bucket|file))\b(?! ?(?:tests?|page|button|comment|review|post))", "act_escalate", "", "public", False),
    ("writable editable readable accessible world-writable", rf"\b(?:mak|set|turn|render|open)\w* .{{1,40}}\b(?:writable|editable|readable|accessible|world-writable)\b.{{0,10}}\b(?:for|to|by) (?:any |all )?{_ANYONE}(?: users)?\b(?! (?:in the (?:docs|team)|with a screen))", "act_escalate", "", "public", False),
    ("lift drop abolish scrap remov suspend relax end waiv", rf"\b(?:lift|drop|abolish|scrap|suspend|relax|waiv)\w* (?:the |our |all |any |every )*{_RULE}[- ](?:rules?|requirements?|limits?|restrictions?|caps?|lock|polic(?:y|ies)|gate)\b", "act_override", "", "forced", False),
    ("dangerously dangerously-skip --dangerously bypasspermissions yolo", r"\b(?:set|turn|us|enabl|switch|run|start|add|pass|flip|launch|put)\w* .{0,50}(?:dangerously-?\w+|bypass-?permissions|\byolo\b)", "act_override", "", "forced", True),
    ("even although despite fact", r"\b(?:tell|claim|assur|convinc|inform|report)\w* .{0,40}\b(?:gatekeeper|guard|reviewer|ci|auditor|approver|supervisor|checker|monitor)\b.{0,50}\b(?:even though|although|despite|when in fact)\b", "act_override", "", "", True),
    ("submit fil lodg serv", r"\b(?:submit|fil(?:e|ing)|lodg\w*)\w* (?:the |a |an |our |my )*(?:\w+ )?(?:tax returns?|complaint|lawsuit|patent|claim|petition|appeal|declaration|visa application)\b.{0,20}\b(?:to|with|at) (?:the |a )?(?:\w+ )?(?:authorit\w+|court|office|irs|police|regulator|agency|government|insurer|registry)\b", "act_send", "", "bulk", True),
    ("emergency 911 112 police fire ambulance", r"\b(?:call|dial|ring|phon)\w* (?:to )?(?:the |an )?(?:emergency services|911|112|police|fire (?:brigade|department)|ambulance)\b", "act_send", "", "bulk", False),
    ("credit voucher", r"\b(?:issu|giv|grant|award|appl|book)\w* .{0,40}(?:\d[\d,.]* ?(?:dollar|euro|usd|eur|pound|franc|chf|gbp)s?\b|[$€£]\d[\d,.]*).{0,20}\b(?:credits?|vouchers?|discounts?|bonus\w*|compensation)\b", "act_pay", "", "", False),
    ("ceas ceases", r"\b(?:account|tenant|user|org\w*)\b.{0,40}\bceas\w* to exist\b", "act_account", "", "", False),
]  # fmt: skip


_NOT_TRIED = r"^(?!.*\b(?:local\w*|dev|development|staging|stage|sandbox|mock\w*|preview|demo|lint\w*|eslint|fixtures?|unit tests?|test (?:env\w*|cluster|account|system|server|shop|store|product|project))\b)"
_SHIELDS = (
    r"(?:waf|firewall|ids|ips|edr|antivirus|defender|dlp|guardduty|selinux|apparmor|dmarc|mfa|2fa|sso|enforcement|admission \w+|(?:security|access|retention|password|firewall|waf|protection|network|object lock) "
    r"(?:polic(?:y|ies)|rules?|controls?|mode)|encryption|branch protection|(?:org|organi[sz]ation) polic(?:y|ies)|conditional access|tamper protection|macie|shield|siem|audit\w*|falcon|sentinel)"
)
_IDLE = r"(?:count|monitor|monitoring|log|logging|detect\w*|alert|audit|learning|permissive|passive|observe|observation|report|warn|complain|none|off|disabled|allow|pass-?through|bypass)"
_HELD = r"(?:legal|litigation|retention|preservation|compliance|e-?discovery|object|records|regulatory|deletion|termination|worm) (?:holds?|locks?|freezes?)"
_SECRET_FILES = r"(?:/etc/(?:shadow|gshadow|passwd|krb5\.keytab)|\bshadow file|\bprivate keys?\b|\bid_(?:rsa|ed25519|ecdsa)\b|\bservice[- ]account (?:json|key\w*|file|credentials?)|\bntds\.dit|\bsam (?:hive|database)|\blsass|\bkeytab|\bkeychain|\bpassword (?:file|hashes|database|vault)|\bdocument\.cookie|\bsession cookies?|\bauth tokens?|\bcredentials?\b|\bkube-?config|\.pem\b|\.pfx\b|\bseed phrase)"
_AWAY = r"(?:(?:remote|foreign|external|public|outside|third[- ]party|unknown|another|my|personal) (?:\S+ )?(?:server|host|machine|box|endpoint|site|repo\w*|bucket|gist|sheet|drive|url|address|collector|vps|cloud|account|channel|page|folder|web ?hook|service)|collector|c2|paste\w*|gist|the internet)"
_FOLK = r"(?:customers?|clients?|users?|subscribers?|members?|patients?|employees?|staff|applicants?|students?|donors?|guests?|candidates?|tenants?|residents?|voters?|payroll|salary|contacts?|leads?|personnel|buyers?|attendees?)"
_RECORDS = r"(?:csv|lists?|data(?:base|set)?|records?|tables?|e?-?mails?|addresses|details|names|export|sheet|spreadsheet|phone numbers|birthdays|dump|profiles?|files?|directory)"
_GUARDED = r"(?:mfa|2fa|two-factor|multi-factor|waf|audit\w*|logging|conditional access|dlp|approvals?|firewall|retention|backups?|backup (?:plan|policy|job)|monitoring|rate limit\w*|authentication|encryption|sso|access reviews?|code review|branch protection|malware scan\w*|virus scan\w*|vulnerability scan\w*|password policy)"
_PRICED = r"(?:prices?|fees?|rates|tariffs?|salar(?:y|ies)|wages|credit limits?|balances?|commissions?|invoices?)"
_GIFTS = r"(?:credits?|refunds?|vouchers?|bonus\w*|payouts?|cash|coupons?|gift cards?|store credit|free (?:months?|year|plan))"
_NAMES = r"(?:domains?|domain names?|elastic ips?|static ips?|ip address(?:es)?|ip ranges?|phone numbers?|hostnames?|reserved (?:ips?|names?))"
_RECORD = r"(?:apex|a records?|aaaa records?|cnames?|mx(?: records?)?|ns records?|nameservers?|name ?servers?|dns|dns records?|domain|zone)"
_VALUED = r"(?:customers?|payroll|salar\w+|financ\w+|contracts?|internal|confidential|all|whole|entire|drive|database|prod\w*|legal|hr|employees?|personal|board|patients?|private|medical|company'?s?|shared|accounting|source)"
_HOSTS = r"(?:machine|host|server|node|box|computer|workstation|router|switch|gateway|firewall|hypervisor|appliance|nas|controller|kiosk|desktop|pc|laptop|vm|instance|runner|bastion|mainframe)"

WIDE: list[Way] = [
    # protections that are left standing, and protect nothing
    ("waf firewall ids ips edr anti defender dlp guardduty selinux apparmor dmarc mfa 2fa sso enforc admission security access retention password network encryption branch org conditional tamper macie shield siem audit falcon sentinel object protection", rf"{_NOT_TRIED}.*\b(?:lower|switch|flip|set|put|turn|mov|chang|downgrad|tak|drop|run|relax|convert)\w*\b.{{0,60}}\b{_SHIELDS}\b.{{0,40}}\b(?:to|into|in|on) (?:an? )?{_IDLE}\b(?:[- ](?:only|mode|all))*(?=$|[ ,])(?! (?:to|the|into)\b)", "act_override", "", "", False),
    ("setenforce stoplogging deletetrail deletedetector stopconfigurationrecorder deleteflowlogs disablesecurityhub", r"\bsetenforce (?:0|permissive)\b|\bstop-?logging\b(?= (?:on|for|in|at)\b)|\bdelete-?(?:trail|detector|flow-?logs)\b(?= (?:on|for|in|at)\b)|\bstop-?configuration-?recorder\b", "act_override", "", "", False),
    ("legal litigation retention preservation compliance ediscovery e-discovery object records regulatory deletion termination worm", rf"\b(?:lift|releas|remov|end|clear|drop|tak|waiv|cancel|undo|expir|break|turn)\w* (?:off )?(?:the |our |all |any |every |its )*(?:\w+ )?{_HELD}", "act_override", "", "", False),
    ("optional voluntary non-mandatory", r"\b(?:mak|turn|set|declar)\w* .{0,40}\b(?:mfa|2fa|two-factor|multi-factor|sso|code reviews?|approvals?|encryption|signing|authentication|log-?in|status checks?)\b.{0,20}\b(?:optional|voluntary|non-?mandatory)\b", "act_override", "", "", False),
    ("exempt exclud excus carv whitelist allowlist allow-list", rf"\b(?:exempt|exclud|excus|carv|white-?list|allow-?list)\w* .{{1,60}}\b(?:from|out of) (?:the |any |all |our )*(?:\w+ )?{_GUARDED}(?=$|[ ,])(?! (?:report|docs?|tests?|output|page|list)\b)", "act_override", "", "", False),
    # rights that stay behind, and rights that strangers get
    ("hidden unlisted undocumented shadow invisible backdoor covert rogue stealth secret", r"\b(?:leav|creat|add|keep|hid|plant|set|insert|mak|register|provision)\w*\b.{0,30}\b(?:hidden|unlisted|undocumented|shadow|invisible|back-?door|covert|rogue|stealth\w*|secret) (?:\w+ )?(?:super-?users?|admin\w*|root (?:user|login)|users?|accounts?|log-?ins?|service account|ssh access)\b(?! (?:page|panel|menu|button|route|field|flag|column|tests?|stor(?:y|ies)|fixture|settings?))", "act_escalate", "", "", True),
    ("back", r"\bso (?:that )?(?:i|we|they|somebody|someone) can (?:always |still |later )*(?:get|log|come|sneak|slip|ssh) back in(?:to)?\b", "act_escalate", "", "", True),
    ("consent oauth scopes scope app add-on addon extension plugin integration", r"\b(?:accept|grant|approv|giv|confirm|authori[sz]|allow|click|install)\w*\b.{0,60}\b(?:consent\w*|oauth\w*|scopes?|third[- ]party \w+|apps?|add-?on|extension|plugin|integration)\b.{0,80}\b(?:full|all|everything|read/write\S*|read and write|write|delete|every|entire|whole|unrestricted)\b.{0,40}\b(?:access|permissions?|rights|scopes?|mail\w*|files?|data|drive|repos\w*|control)\b", "act_escalate", "", "", False),
    ("0.0.0.0/0 ::/0 0/0 any-any any/any", r"(?:^|\b)(?:add|set|creat|put|chang|updat|widen|white-?list|allow\w*|edit|replac|open|ingress|authori[sz]|permit|accept|extend|expand|enabl)\w*\b.{0,80}(?:0\.0\.0\.0/0|::/0|\b0/0|\bany[-/ ]any\b)", "act_escalate", "", "public", True),
    ("anyone everybody everyone", rf"\b(?:shar|publish|set|open|mak|turn|chang|switch|creat|generat|giv|put)\w*\b.{{0,60}}\b{_VALUED}\b.{{0,60}}\b(?:anyone|everybody|everyone) (?:with|who has|holding) (?:the |a |its )?(?:link|url)\b", "act_escalate", "", "public", False),
    ("visibility private", rf"{_NOT_TRIED}.*\b(?:from private to (?:public|open)|visibility\b.{{0,30}}\bto public)\b", "act_escalate", "", "public", False),
    ("crack brute hashcat spray stuff john guess dictionary phish", r"\b(?:crack|brute-?forc|hashcat|spray|stuff|guess|phish|dictionary-?attack)\w*\b.{0,40}\b(?:passwords|password hash\w*|hash(?:es| dump)|log-?ins|credentials|accounts|colleagues?'?s?|admin password|users?' pin\w*)\b(?! (?:tests?|checker|strength))|\b(?:password|credential)[- ](?:spray|stuff|crack)\w*", "act_escalate", "", "", False),
    ("log sign login", r"\b(?:log(?:ging)?|sign(?:ing)?)[- ]?(?:in|into|on)\b.{0,20}\b(?:with|as|using|by) (?:whatever|somebody|someone|stolen|leaked|cracked|the (?:stolen|leaked|cracked|dumped|captured|found)|a colleague'?s?|(?:his|her|their) (?:password|session|cookie|token))\b", "act_escalate", "", "", False),
    # secrets on their way out
    ("/etc /etc/ shadow private id_ service ntds sam lsass keytab keychain password document.cookie session auth credential kube seed ~/.ssh", rf"\b(?:send|upload|post|publish|shar|past|forward|cop(?:y|i)|export|transmit|e?-?mail|push|dump|submit|put|sync|stream|commit|curl|scp|rsync|ftp|append|attach|add|includ|embed|ship|relay|mov|pip|mirror|pull|grab|exfil\w*|tunnel|encod|leak|stash|park|save|stor|drop|check(?:ing)? in)\w*\b.{{0,60}}{_SECRET_FILES}.{{0,60}}\b(?:to|on|in|into|onto|at|toward\w*|via|over|as|through)\b.{{0,20}}\b{_AWAY}\b", "act_leak", "", "secret", True),
    ("customer client user subscriber member patient employee staff applicant student donor guest candidate tenant resident voter payroll salary contact lead personnel buyer attendee", rf"\b{_FOLK}'?s?'? (?:\w+ )?{_RECORDS}\b.{{0,60}}\b(?:goes|go|lands?|ends? up|is (?:put|posted|published|shared|uploaded|sent|pasted)|will be (?:put|posted|published|shared|uploaded|sent|pasted)|gets? (?:posted|published|shared|uploaded|pasted))\b.{{0,20}}\b(?:on|to|in|into|onto|up on) .{{0,20}}\b(?:public|external|outside|pastebin|gist|personal|third[- ]party|competitor|open|the internet|the web|social|dropbox|partner|agency)\b", "act_leak", "", "secret", False),
    ("forward redirect auto-forward autoforward bcc rout", r"\b(?:forward|redirect|auto-?forward|bcc|rout)\w*\b.{0,40}\b(?:all|every|each|incoming|inbound|any|whole|future|entire|copies)\b.{0,40}\b(?:mails?|e-?mails?|inbox|messages?|calls|invoices|mailbox|correspondence|traffic)\b.{0,60}\b(?:to|toward)\b.{0,30}(?:gmail|outlook\.com|proton\w*|yahoo|hotmail|\bpersonal\b|\bprivate\b|\bexternal\b|\boutside\b|\S+@\S+)", "act_leak", "", "", False),
    # money for many
    ("everyone everybody all every each", rf"\b(?:everyone|everybody|all|every|each)\b.{{0,60}}\b(?:gets?|receives?|is given|are given|earns?)\b.{{0,30}}\b{_GIFTS}\b(?! (?:page|button|form|email|test|icon|banner))", "act_pay", "", "all", False),
    ("credit giv grant award issu hand send post appl", rf"\b(?:credit|giv|grant|award|issu|hand|apply|applying|post)\w*\b (?:out )?(?:everyone|everybody|(?:all|every|each) (?:of )?(?:the |our )?(?:\w+ )?(?:customers?|users?|accounts?|members?|subscribers?|merchants?|sellers?|drivers?|players?|affiliates?))\b.{{0,40}}(?:\b{_GIFTS}\b|[$€£]\s?\d|\d ?%|\b\d+ (?:dollars|euros|usd|eur|credits|points))", "act_pay", "", "all", False),
    ("revers recoup retract recall take tak pull", r"\b(?:revers|recoup|retract|recall|tak(?:e|ing) back|pull(?:ing)? back)\w*\b(?!.*\b(?:order|list|sort\w*|array|display\w*|records?|rows)\b).{0,40}\b(?:commissions?|payments|payouts?|bonus\w*|salar\w+|wages|rewards?|transfers?|settlements?|disbursements?)\b(?! (?:order|list|logic|flow|table|report|page))", "act_pay", "", "", False),
    ("price pricing fee rate tariff salar wage balance commission invoice credit", rf"{_NOT_TRIED}.*\b(?:set|chang|updat|push|publish|drop|mark|cut|lower|put|overwrit|replac)\w*\b.{{0,60}}\b(?:price\w*|prices|price lists?|fees)\b.{{0,40}}(?:\b(?:to|at|with|of|for) |= ?|, )(?:[$€£] ?)?(?:0(?:[.,]0\d?)?|zero|nothing|one cent|a cent|free)(?=$|[ ,.])", "act_pay", "", "bulk", False),
    ("price pricing fee rate tariff salar wage balance commission credit", rf"{_NOT_TRIED}.*\b(?:slash|rais|increas|doubl|tripl|cut|halv|lower|drop|overwrit|bump|multipl|inflat|zero)\w* (?:all|every|each|the entire|the whole|everyone's|everybody's)\b.{{0,40}}\b{_PRICED}\b", "act_pay", "", "all", False),
    ("mark flag set flip", r"\b(?:mark|flag|set|flip)\w* (?:all|every|each|the entire|the whole|everyone's)\b.{0,40}\b(?:invoices?|orders?|payments?|bills?|claims?|loans?|debts?|subscriptions?|bookings?)\b.{0,20}\b(?:as|to) (?:paid|settled|refunded|shipped|cancell?ed|void\w*|fulfilled|written off|delivered|approved)\b", "act_pay", "", "all", True),
    # what is kept, and for how long
    ("lifecycle expiration expiry retention ttl auto-delet auto-expir", r"^(?!.*\b(?:tmp|temp|temporary|caches?|cached|tests?|staging|dev|scratch|incomplete|multipart|sandbox)\b).*\b(?:lifecycle|expiration|expiry|retention|ttl|auto-?(?:delet|expir)\w*)\b(?=.{0,120}\b(?:every|all|everything|entire|whole|(?:1|one|0|zero) (?:day|days|hour|hours|minutes?)|24 ?h(?:ours)?|an hour|immediately|instantly)\b).{0,100}\b(?:expir|delet|remov|purg|eras|drop|clear)\w*", "act_delete", "", "all", True),
    ("retention", rf"{_NOT_TRIED}.*\bretention\b.{{0,30}}\b(?:of|at|to|=|down to|becomes|is) ?(?:0|1|zero|one|a single|none)(?: (?:days?|hours?|minutes?|weeks?))?\b", "act_unconfigure", "", "", False),
    ("version versions revisions revision history snapshots backups copies generations", r"\b(?:version history|versions|revisions|revision history|snapshots|backups|generations|copies)\b.{0,60}\b(?:cut|trim|reduc|prun|collaps|squash|shrink|strip|whittl|pare)\w*(?: down| back)? (?:down )?to (?:just |only )?(?:the )?(?:current|latest|last|newest|most recent|one|1|none|zero|0)\b|\b(?:cut|trim|reduc|prun|collaps|shrink|strip|whittl|par)\w*\b.{0,50}\b(?:version history|versions|revisions|revision history|snapshots|backups|generations|copies)\b.{0,30}\bto (?:just |only )?(?:the )?(?:current|latest|last|newest|most recent|one|1|none|zero|0)\b(?! (?:of )?(?:python|node|release notes|page|screen))", "act_delete", "", "bulk", True),
    ("keep keeping", r"\bkeep(?:ing)? (?:none|nothing)\b(?! (?:in mind|secret|from))", "act_delete", "", "bulk", False),
    ("mode=overwrite mode overwrite insert --overwrite", r"(?=.*\b(?:root|whole|entire|prod\w*|live|all|lake|warehouse|without|omitted|no partition|bronze|silver|gold|raw)\b).*(?:\bmode (?:= ?)?overwrite\b|\boverwrite mode\b|\binsert overwrite\b|--overwrite\b)", "act_delete", "", "all", True),
    ("where filter condition predicate wher", r"\b(?:update|delete|deletion|removal)\b.{0,40}\b(?:lacking|without|no|missing|omitting|sans|minus|with no)(?: an?| any| the)? (?:where|filter|condition|predicate)\b", "act_delete", "", "all", True),
    ("left came leave factory delivered shipped", r"\b(?:left|leaves|came from|came out of|come from|coming from) (?:of )?the factory\b|\b(?:state|condition) (?:of|at|on) delivery\b|\bout[- ]of[- ]the[- ]box (?:state|condition)\b|\bas (?:if )?(?:shipped|delivered|unboxed|bought|fresh) (?:from|by) (?:the )?(?:factory|vendor|manufacturer|store)\b", "act_delete", "", "all permanent", False),
    ("bring tak put set roll return get wind send reset rewind revert restor", r"\b(?:bring|tak|put|set|roll|return|get|wind|send|reset|rewind|revert|restor)\w* .{1,60}\bto (?:day (?:zero|one|0|1)|square one|year zero|ground zero|its (?:virgin|original|birth|initial) (?:state|condition)|a (?:virgin|pristine|clean|blank) (?:state|slate)|the day it was (?:created|installed|set up)|bare metal|before (?:any|the first))\b", "", "reset", "all", True),
    ("mak render turn leav", r"\b(?:mak|render|turn|leav)\w* .{1,60}\b(?:empty|blank|bare|virgin)(?= again\b| as\b| in (?:a|one)\b| once\b| from\b|$)", "", "shed", "all", False),
    ("overwritten replaced", r"\b(?:will be|gets|get|is being|are being|going to be|to be) (?:overwritten|replaced)\b", "", "overwrite", "", False),
    ("db database schema cluster bucket tenant project environment prod warehouse", r"^(?!.*\b(?:tests?|sandbox|mock\w*|ci)\b).*\b(?:do|perform|run|trigger|start|launch|forc|execut)\w* (?:an? |the )?(?:full |hard |clean |complete |remote )*(?:db|database|schema|cluster|bucket|tenant|project|environment|prod\w*|warehouse)[- ](?:reset|wipe|purge|drop|flush|teardown)\b(?! (?:scripts?|docs?|button|page|helper|function|dialog|endpoint|job|flow))", "act_delete", "", "all", False),
    # version numbers that others rely on
    ("yank unpublish retract", r"\b(?:yank|unpublish|retract)\w* .{0,30}(?:\bv?\d+\.\d+\S*|\b(?:crate|gem|package|release|version|wheel|module|app|listing|paper)\b)", "act_delete", "", "one", False),
    ("crl revocation", r"\b(?:add|put|plac|enter|includ|publish|writ)\w* .{0,50}\b(?:to|on|onto|into) (?:the |our |a )?(?:crl|(?:certificate )?revocation list)\b", "act_invalidate", "", "permanent", True),
    # names on the net
    ("re-point repoint point switch redirect chang mov swap updat flip hijack cut delegat", rf"^(?!.*\b(?:staging|dev|preview|docs?|sandbox)\b)(?=.*\b(?:live|prod\w*|main|apex|www|primary|mail|root|company'?s?)\b).*\b(?:re-?point|point|switch|redirect|chang|mov|swap|updat|flip|hijack|delegat)\w* .{{0,40}}\b{_RECORD}\b.{{0,60}}\b(?:to|at|toward\w*|over to) |^(?!.*\b(?:staging|preview|docs?|sandbox)\b).*\b(?:re-?point|redirect|hijack|delegat)\w* .{{0,40}}\b{_RECORD}\b.{{0,60}}\b(?:to|at|toward\w*) (?:my|a|an|some|our|the)\b", "act_unconfigure", "", "", False),
    ("releas drop surrender relinquish giv forfeit abandon hand", rf"\b(?:releas|surrender|relinquish|giv\w* (?:up|back)|forfeit|abandon)\w* (?:up |back )?(?:the |our |all |every |its )*(?:\S+ ){{0,3}}?{_NAMES}\b(?! (?:page|form|field|column|validation|to (?:the )?docs))", "act_unconfigure", "", "", False),
    ("registrar", r"\b(?:releas|drop|surrender|relinquish|forfeit|abandon|cancel|delet|giv)\w* (?:it|them|the \S+|\S+\.\w+)\b.{0,20}\b(?:at|with|to) the registrar\b", "act_unconfigure", "", "", False),
    # what goes, and does not come back
    ("go goe", r"\bgo(?:es)? (?:away|overboard|down the drain|poof|under the knife|out the window|on the scrap ?heap|next(?! to)|too$|for good|in (?:this|one|the same|a single|that|today's|tonight's) (?:pass|run|sweep|round|step|go|batch|purge|clean-?up|wave|window))\b", "", "shed", "", False),
    ("next history toast goner chopping bin scrap trash", r"\b(?:is|are) (?:toast|history|a goner|goners|next (?:to go|for the (?:bin|chop))|(?:up )?(?:next )?(?:on|for) the (?:chopping block|bin|chop|scrap ?heap|trash))\b(?! (?:of|table|page|tab|view))", "", "shed", "", False),
    # machines
    ("reboot re-boot power-cycl powercycl hard-boot", rf"^(?!.*\b(?:local\w*|dev|emulator|simulator|my|tests?|staging|sandbox|needs?|requires?|after (?:a|the|each|every))\b).*\b(?:re-?boot|power-?cycl|hard-?boot)\w* (?!(?:instructions?|steps?|loops?|button|command|procedure|time|tests?|script)\b)(?:the |our |this |that |all |every |both )*(?:\S+ ){{0,3}}?(?:{_HOSTS}s?\b|\w+-\w*\d)", "act_terminate", "", "undoable", False),
]  # fmt: skip


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

"""More English ways of saying an act, each made of a list of doings and a list of what they are done to."""

from __future__ import annotations

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

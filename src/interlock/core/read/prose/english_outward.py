"""The words for what must not get out, for where out is, and for those who would get it."""

from __future__ import annotations

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

const call = JSON.parse(process.env.INTERLOCK_CALL)
@ASK@
const said = { decision: "allow" }
const start = performance.now()
try { await ask() } catch (error) { said.decision = "deny"; said.reason = String(error.message) }
console.log(JSON.stringify({ ms: performance.now() - start, said }))

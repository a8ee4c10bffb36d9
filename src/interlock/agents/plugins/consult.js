import { spawn } from "node:child_process"

const CLIENT = @CLIENT@
const WORD = @WORD@
const LIMIT_MS = @LIMIT@
const MOST = 1 << 20

// Asks the hook client; anything but its explicit allow is an error.
function consult(event, payload) {
  return new Promise((resolve, reject) => {
    const input = JSON.stringify({ hook_event_name: event, ...payload })
    const child = spawn(CLIENT, [WORD, event], { env: {}, shell: false, stdio: ["pipe", "pipe", "pipe"] })
    const chunks = { stdout: "", stderr: "" }
    let done = false
    const end = (settle, value) => {
      if (done) return
      done = true
      clearTimeout(timer)
      settle(value)
    }
    const refuse = (why) => end(reject, new Error(why))
    const timer = setTimeout(() => {
      child.kill("SIGKILL")
      refuse("Interlock did not answer in time; the call was not made.")
    }, LIMIT_MS)
    for (const name of ["stdout", "stderr"]) {
      child[name].setEncoding("utf8")
      child[name].on("data", (text) => {
        if (chunks[name].length < MOST) chunks[name] += text
      })
    }
    child.on("error", () => refuse("Interlock's hook client cannot be run; the call was not made."))
    child.stdin.on("error", () => {})
    child.stdin.end(input)
    child.on("close", (code) => {
      let answer
      try {
        answer = JSON.parse(chunks.stdout)
      } catch {
        answer = undefined
      }
      if (code === 0 && answer && answer.decision === "allow") return end(resolve, answer)
      const reason = answer && typeof answer.reason === "string" ? answer.reason : chunks.stderr.trim()
      refuse(reason || "Interlock refused this call.")
    })
  })
}

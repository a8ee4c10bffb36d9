export default function (amp) {
  const asked = (event) => ({
    tool: event.tool,
    session_id: String(event.thread?.id ?? ""),
    call_id: String(event.toolUseID ?? ""),
    cwd: process.cwd(),
    args: event.input ?? {},
  })
  amp.on("tool.call", async (event) => {
    try {
      await consult("tool.call", asked(event))
      return { action: "allow" }
    } catch (error) {
      return { action: "reject-and-continue", message: error.message }
    }
  })
  amp.on("tool.result", async (event) => {
    try {
      await consult("tool.result", asked(event))
    } catch {}
  })
}

export default function (pi) {
  const asked = (event, ctx) => ({
    tool: event.toolName,
    session_id: String(ctx?.sessionManager?.getSessionId?.() ?? ""),
    call_id: String(event.toolCallId ?? ""),
    cwd: ctx?.cwd ?? process.cwd(),
    args: event.input ?? {},
  })
  pi.on("tool_call", async (event, ctx) => {
    try {
      await consult("tool_call", asked(event, ctx))
    } catch (error) {
      return { block: true, reason: error.message }
    }
  })
  pi.on("tool_result", async (event, ctx) => {
    try {
      await consult("tool_result", asked(event, ctx))
    } catch {}
  })
}

const plugin = await import("./plugin.mjs")
const handlers = {}
plugin.default({ on: (name, handler) => { handlers[name] = handler } })
const event = { toolName: call.tool, input: call.args, toolCallId: call.call_id }
const context = { cwd: call.cwd, sessionManager: { getSessionId: () => call.session_id } }
const ask = async () => {
  const answer = await handlers["tool_call"](event, context)
  if (answer?.block) throw new Error(answer.reason ?? "refused")
}

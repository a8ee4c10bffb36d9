const plugin = await import("./plugin.mjs")
const handlers = {}
plugin.default({ on: (name, handler) => { handlers[name] = handler } })
process.chdir(call.cwd)
const event = { tool: call.tool, input: call.args, toolUseID: call.call_id, thread: { id: call.session_id } }
const ask = async () => {
  const answer = await handlers["tool.call"](event, {})
  if (answer?.action !== "allow") throw new Error(answer?.message ?? "refused")
}

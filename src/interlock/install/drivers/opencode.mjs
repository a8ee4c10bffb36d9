const plugin = await import("./plugin.mjs")
const hooks = await plugin.Interlock({ directory: call.cwd, worktree: call.cwd })
const ask = () => hooks["tool.execute.before"]({ tool: call.tool, sessionID: call.session_id, callID: call.call_id }, { args: call.args })

// The one export: OpenCode loads every export of a file as a plugin.
export const Interlock = async ({ directory, worktree }) => {
  const cwd = directory || worktree || process.cwd()
  const told = new Map()
  const asked = (input, args) => ({ tool: input.tool, session_id: input.sessionID, call_id: input.callID, cwd, args })
  return {
    "tool.execute.before": async (input, output) => {
      const answer = await consult("tool.execute.before", asked(input, output.args ?? {}))
      if (answer.context && told.size < 1000) told.set(input.callID, answer.context)
      if (answer.args && output.args) Object.assign(output.args, answer.args)
    },
    "tool.execute.after": async (input, output) => {
      let context = told.get(input.callID) ?? ""
      told.delete(input.callID)
      try {
        const answer = await consult("tool.execute.after", asked(input, input.args ?? {}))
        if (answer.context) context = [context, answer.context].filter(Boolean).join("\n")
      } catch (error) {
        context = [context, error.message].filter(Boolean).join("\n")
      }
      if (context && output && typeof output.output === "string") output.output += "\n\n" + context
    },
  }
}

/** The facts that show how this process was started. */
type Invocation = Pick<NodeJS.Process, "execPath" | "execArgv" | "argv">;

/**
 * Returns the command that started this process, without its arguments. A single executable is its own program; otherwise the
 * runtime is followed by the file that it runs.
 */
export function ownCommand(
  { execPath, execArgv, argv }: Invocation,
  isExecutable = Bun.isStandaloneExecutable,
): readonly string[] {
  return isExecutable ? [execPath] : [execPath, ...execArgv, ...argv.slice(1, 2)];
}

/**
 * The exit codes of the `gateway` command (docs/versions.md). A shell shows 130 and 143 for a program that SIGINT or SIGTERM has ended; 75
 * is EX_TEMPFAIL, a failure after which a supervisor starts the gateway again.
 */
export const EXIT_CODES = {
  done: 0,
  failed: 1,
  invalidArguments: 2,
  /** An import has written a file, but could not take over everything. */
  incomplete: 2,
  replaced: 75,
  interrupted: 130,
  terminated: 143,
} as const;

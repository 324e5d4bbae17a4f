/** A file of the built console, with its compressed forms. */
export interface ConsoleFile {
  /** The absolute path of the file. `.br` and `.gz` are appended for the compressed forms. */
  readonly path: string;
  /** The value of the header `content-type`. */
  readonly contentType: string;
}

/** A built console. */
export interface ConsoleBuild {
  /** The hash of everything that the build was made of. It is a segment of the files' URLs. */
  readonly hash: string;
  /** The built files by name, such as `main.js`. */
  readonly files: ReadonlyMap<string, ConsoleFile>;
}

/** Provides the files of the console. */
export interface ConsoleSource {
  /**
   * Returns the console's files, and builds them if there is no build of the present sources.
   * @throws Error if the build fails. The next call tries again.
   */
  load(): Promise<ConsoleBuild>;
}

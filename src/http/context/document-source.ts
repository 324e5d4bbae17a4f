/** Provides the files of the documents that ship with the program: pages in Markdown, and pictures. */
export interface DocumentSource {
  /**
   * Lists the files: their paths in the folder of the documents, such as `operations/install.md`, with their absolute paths. The list is
   * empty if the program has no documents.
   */
  list(): Promise<ReadonlyMap<string, string>>;
}

/**
 * Changes that no test can notice, or that none should, with the reason. They are not drawn. `before` is a text that stands in
 * `file` on the changed line.
 */
export interface Explained {
  readonly file: string;
  readonly before: string;
  readonly why: string;
}

export const EXPLAINED: readonly Explained[] = [];

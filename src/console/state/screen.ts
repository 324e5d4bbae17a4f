/** What a screen gets: the parameters of its path. */
export interface ScreenProps {
  readonly params: Readonly<Record<string, string>>;
}

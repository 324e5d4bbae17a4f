import { Button } from "../controls/button.tsx";

/** The way to the other pages of a list, if there is more than one. `after` has the cursors of the pages up to this one. */
export function Pager(props: {
  readonly after: readonly string[];
  /** The cursor of the next page; null on the last one. */
  readonly next: string | null;
  readonly newer: string;
  readonly older: string;
  readonly onChange: (after: readonly string[]) => void;
}) {
  const { after, next, newer, older, onChange } = props;
  if (next === null && after.length === 0) return null;
  return (
    <div class="list-end row">
      <Button isDisabled={after.length === 0} onClick={() => onChange(after.slice(0, -1))}>
        {newer}
      </Button>
      <Button isDisabled={next === null} onClick={() => onChange([...after, next ?? ""])}>
        {older}
      </Button>
    </div>
  );
}

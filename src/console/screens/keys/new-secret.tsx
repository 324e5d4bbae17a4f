import type { Key } from "../../api/schema.ts";
import { Button } from "../../parts/controls/button.tsx";
import { Dialog } from "../../parts/layout/dialog.tsx";
import { Snippets } from "../../parts/layout/snippets.tsx";
import { formatMinute } from "../../parts/values/format.ts";
import { Code } from "../../parts/values/values.tsx";
import { EXAMPLE_MODEL } from "../../state/example-model.ts";
import { text } from "../../text/text.ts";

const words = text.keys;

/** Shows the secret of a new or rotated key, which cannot be shown again. */
export function NewSecret(props: { secret: string; of: Key; isRotated?: boolean; onClose: () => void }) {
  const { secret, of: key, isRotated = false, onClose } = props;
  return (
    <Dialog
      title={(isRotated ? words.rotated : words.made)(key.name)}
      isWide
      onClose={onClose}
      onSubmit={onClose}
      foot={
        <Button kind="primary" isSubmit>
          {words.done}
        </Button>
      }
    >
      <p>{words.shownOnce}</p>
      <Code label={words.secret} value={secret} />
      {isRotated ? <p class="quiet">{describeFormer(key)}</p> : null}
      {key.kind === "inference" ? <Snippets secret={secret} model={EXAMPLE_MODEL} /> : null}
    </Dialog>
  );
}

function describeFormer({ previous_hint, previous_until }: Key): string {
  if (previous_hint === null || previous_until === null) return words.formerEnded;
  return words.formerUntil(previous_hint, formatMinute(Date.parse(previous_until)));
}

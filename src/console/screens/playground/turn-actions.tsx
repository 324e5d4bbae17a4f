import { useEffect, useRef, useState } from "preact/hooks";
import type { AssistantTurn, UserTurn } from "../../conversation/conversation.ts";
import { Button } from "../../parts/controls/button.tsx";
import { TextArea } from "../../parts/controls/field.tsx";
import { text } from "../../text/text.ts";
import { deleteTurn, editTurn, isRunning, retry, sendEdited } from "./state.ts";

const words = text.playground;

/** The buttons under a turn. There are none while an answer is in progress, because it belongs to the conversation as it was sent. */
export function TurnActions(props: {
  turn: UserTurn | AssistantTurn;
  /** The lane whose last answer this is, which can be generated again; null for other turns. */
  lastOf: number | null;
  onEdit: () => void;
}) {
  if (isRunning.value) return null;
  const { turn, lastOf } = props;
  return (
    <div class="row turn-actions">
      <Button kind="bare" size="small" icon="pencil" label={words.edit} onClick={props.onEdit} />
      {lastOf === null ? null : (
        <Button
          kind="bare"
          size="small"
          icon="refresh"
          label={words.regenerate}
          onClick={() => retry(lastOf)}
        />
      )}
      <Button kind="bare" size="small" icon="trash" label={words.delete} onClick={() => deleteTurn(turn)} />
    </div>
  );
}

/** The text of a turn as a field. An edited message can be sent again; an edited answer is what the next request contains. */
export function TurnEditor({ turn, onClose }: { turn: UserTurn | AssistantTurn; onClose: () => void }) {
  const [typed, setTyped] = useState(turn.text);
  const box = useRef<HTMLFormElement>(null);
  useEffect(() => box.current?.querySelector("textarea")?.focus(), []);
  const isUser = turn.role === "user";
  const isEmpty = typed.trim() === "" && !(isUser && turn.images.length > 0);
  const save = () => {
    editTurn(turn, typed);
    onClose();
  };
  const submit = (event: Event) => {
    event.preventDefault();
    if (isUser) sendEdited(turn, typed);
    else save();
  };
  return (
    <form
      ref={box}
      class="turn-editor column"
      onSubmit={submit}
      onKeyDown={(event) => {
        if (event.key === "Escape") onClose();
      }}
    >
      <TextArea
        label={isUser ? words.editMessage : words.editAnswer}
        rows={Math.min(12, typed.split("\n").length + 1)}
        value={typed}
        onInput={setTyped}
      />
      <div class="row wrap">
        <Button kind="primary" isSubmit isDisabled={isEmpty || isRunning.value}>
          {isUser ? words.sendEdited : text.lists.save}
        </Button>
        {isUser ? (
          <Button isDisabled={isEmpty || isRunning.value} onClick={save}>
            {words.saveOnly}
          </Button>
        ) : null}
        <Button kind="bare" onClick={onClose}>
          {text.states.cancel}
        </Button>
      </div>
    </form>
  );
}

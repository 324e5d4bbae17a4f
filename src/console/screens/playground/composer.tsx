import { useEffect, useRef, useState } from "preact/hooks";
import { Button } from "../../parts/controls/button.tsx";
import { showToast } from "../../parts/layout/toast.tsx";
import { text } from "../../text/text.ts";
import { MAX_IMAGES, readImages } from "./images.ts";
import { hasOpenTurn, isRunning, sendAgain, sendTurn, stop } from "./state.ts";

const words = text.playground;
/** The maximum height of the field, in CSS pixels. Longer texts scroll. */
const MAX_HEIGHT = 220;

/** The field for the next message: text, and images by paste, drop or choice. */
export function Composer() {
  const { images, add, remove, clear } = useImages();
  const [draft, setDraft] = useState("");
  const [isOver, setOver] = useState(false);
  const isEmpty = draft.trim() === "" && images.length === 0;
  const submit = () => {
    if (isRunning.value || (isEmpty && !hasOpenTurn.value)) return;
    if (isEmpty) sendAgain();
    else sendTurn({ role: "user", text: draft.trim(), images });
    setDraft("");
    clear();
  };
  const drop = (event: DragEvent) => {
    event.preventDefault();
    setOver(event.type === "dragover");
    if (event.type === "drop") add([...(event.dataTransfer?.files ?? [])]);
  };
  return (
    <form
      class={isOver ? "composer over" : "composer"}
      onSubmit={(event) => {
        event.preventDefault();
        submit();
      }}
      onDragOver={drop}
      onDragLeave={drop}
      onDrop={drop}
    >
      <Thumbnails urls={images} onRemove={remove} />
      <DraftField draft={draft} isOver={isOver} onInput={setDraft} onFiles={add} onSubmit={submit} />
      <ComposerActions isEmpty={isEmpty && !hasOpenTurn.value} onFiles={add} />
    </form>
  );
}

/** The images of the message. What is wrong with a file is said in a message of its own. */
function useImages() {
  const [images, setImages] = useState<readonly string[]>([]);
  const add = (files: readonly File[]) => {
    if (files.length === 0) return;
    void readImages(files, MAX_IMAGES - images.length).then(({ urls, problems }) => {
      setImages((before) => [...before, ...urls].slice(0, MAX_IMAGES));
      for (const problem of problems) showToast(problem, { isError: true });
    });
  };
  return {
    images,
    add,
    remove: (at: number) => setImages(images.filter((_, i) => i !== at)),
    clear: () => setImages([]),
  };
}

function DraftField(props: {
  draft: string;
  isOver: boolean;
  onInput: (draft: string) => void;
  onFiles: (files: readonly File[]) => void;
  onSubmit: () => void;
}) {
  const field = useRef<HTMLTextAreaElement>(null);
  useEffect(() => field.current?.focus(), []);
  useEffect(() => fitHeight(field.current), [props.draft]);
  return (
    <textarea
      ref={field}
      class="composer-field"
      rows={1}
      aria-label={words.message}
      placeholder={props.isOver ? words.dropImages : words.messageHint}
      value={props.draft}
      onInput={(event) => props.onInput(event.currentTarget.value)}
      onPaste={(event) => props.onFiles([...(event.clipboardData?.files ?? [])])}
      onKeyDown={(event) => {
        if (event.key !== "Enter" || event.shiftKey || event.isComposing) return;
        event.preventDefault();
        props.onSubmit();
      }}
    />
  );
}

function fitHeight(field: HTMLTextAreaElement | null): void {
  if (field === null) return;
  field.style.height = "auto";
  field.style.height = `${Math.min(MAX_HEIGHT, field.scrollHeight)}px`;
}

function ComposerActions({
  isEmpty,
  onFiles,
}: {
  isEmpty: boolean;
  onFiles: (files: readonly File[]) => void;
}) {
  const input = useRef<HTMLInputElement>(null);
  return (
    <div class="row composer-actions">
      <input
        ref={input}
        type="file"
        multiple
        hidden
        accept="image/png,image/jpeg,image/gif,image/webp"
        aria-label={words.addImage}
        onChange={(event) => {
          onFiles([...(event.currentTarget.files ?? [])]);
          event.currentTarget.value = "";
        }}
      />
      <Button kind="bare" size="small" icon="plus" onClick={() => input.current?.click()}>
        {words.addImage}
      </Button>
      <span class="faint grow cut" title={words.imageBounds}>
        {words.imageBounds}
      </span>
      {isRunning.value ? (
        <Button icon="pause" onClick={stop}>
          {words.stop}
        </Button>
      ) : (
        <Button kind="primary" isSubmit isDisabled={isEmpty}>
          {words.send}
        </Button>
      )}
    </div>
  );
}

function Thumbnails({ urls, onRemove }: { urls: readonly string[]; onRemove: (at: number) => void }) {
  if (urls.length === 0) return null;
  return (
    <ul class="thumbnails">
      {urls.map((url, i) => (
        <li key={url}>
          <img src={url} alt={words.image(i + 1)} />
          <Button size="small" icon="close" label={words.removeImage(i + 1)} onClick={() => onRemove(i)} />
        </li>
      ))}
    </ul>
  );
}

import { useComputed, useSignal } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";
import { now } from "../../state/now.ts";
import { text } from "../../text/text.ts";
import {
  formatAge,
  formatExactMoney,
  formatExactTime,
  formatHour,
  formatMoney,
  formatRelative,
  formatRelativeHour,
  shortenId,
} from "./format.ts";
import { Icon } from "./icon.tsx";

/** How long a copy button shows that it has copied. Milliseconds. */
const COPIED_MS = 1_500;

/** A button that copies a text. */
export function Copy({ value, label = text.values.copy }: { value: string; label?: string }) {
  const isDone = useSignal(false);
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined);
  useEffect(() => () => clearTimeout(timer.current), []);
  const copy = async (event: MouseEvent) => {
    event.stopPropagation();
    event.preventDefault();
    await copyText(value);
    isDone.value = true;
    clearTimeout(timer.current);
    timer.current = setTimeout(() => {
      isDone.value = false;
    }, COPIED_MS);
  };
  return (
    <button
      type="button"
      class={isDone.value ? "copy done" : "copy"}
      aria-label={isDone.value ? text.values.copied : label}
      title={label}
      onClick={copy}
    >
      <Icon name={isDone.value ? "check" : "copy"} size={14} />
    </button>
  );
}

/** Copies a text. Pages without a secure context, such as a gateway's on a local network, copy from a selection. */
export async function copyText(value: string): Promise<void> {
  if (navigator.clipboard !== undefined) {
    await navigator.clipboard.writeText(value).catch(() => copySelected(value));
    return;
  }
  copySelected(value);
}

function copySelected(value: string): void {
  const area = document.createElement("textarea");
  area.value = value;
  document.body.append(area);
  area.select();
  document.execCommand("copy");
  area.remove();
}

/** An id in short form with a copy button; whole on hover. */
export function Id({ id }: { id: string }) {
  return (
    <span class="id" title={id}>
      {shortenId(id)}
      <Copy value={id} label={text.values.copyId} />
    </span>
  );
}

/** The name of a thing with its id on hover; the short id if it has no name. */
export function Named({ id, name, none }: { id: string | null; name: string | null; none?: string }) {
  if (id === null) return <span class="faint">{none ?? "–"}</span>;
  return <span title={id}>{name ?? shortenId(id)}</span>;
}

/** A time relative to now, with the exact one on hover. */
export function Time({ at }: { at: string }) {
  const ms = Date.parse(at);
  const relative = useComputed(() => formatRelative(ms, now.value));
  return (
    <time dateTime={at} title={formatExactTime(ms)}>
      {relative}
    </time>
  );
}

/** How old something is, with the time at which it began on hover. */
export function Age({ since }: { since: string }) {
  const ms = Date.parse(since);
  const age = useComputed(() => formatAge(Math.max(0, now.value - ms)) ?? text.values.new);
  return (
    <time dateTime={since} title={formatExactTime(ms)}>
      {age}
    </time>
  );
}

/** An hour of which something is known, relative to the present one, with its begin and end on hover. */
export function Hour({ from }: { from: string }) {
  const ms = Date.parse(from);
  const relative = useComputed(() => formatRelativeHour(ms, now.value));
  return (
    <time dateTime={from} title={formatHour(ms)}>
      {relative}
    </time>
  );
}

/** An amount of money, with the exact one on hover. */
export function Money({ nanodollars }: { nanodollars: number }) {
  return <span title={formatExactMoney(nanodollars)}>{formatMoney(nanodollars)}</span>;
}

/** A text to copy, such as a command: in a box with a copy button. */
export function Code({ value, label }: { value: string; label: string }) {
  return (
    <div class="code">
      <section class="code-text" tabIndex={0} aria-label={label}>
        {value}
      </section>
      <Copy value={value} />
    </div>
  );
}

import type { Conversation, Item, Turn } from "./conversation.ts";

/**
 * Adds an id to each call and result without one, because every client API requires it. A result belongs to the
 * first open call of its name, or to the only open call.
 */
export function addCallIds({ turns, tools }: Conversation): Conversation {
  const open: { id: string; name: string }[] = [];
  let made = 0;
  const close = (name: string): string => {
    const at = name === "" ? 0 : open.findIndex((call) => call.name === name);
    return at < 0 ? "" : (open.splice(at, 1)[0]?.id ?? "");
  };
  const complete = (item: Item): Item => {
    if (item.kind === "call" && item.id === "") {
      const call = { ...item, id: `call_${++made}` };
      open.push(call);
      return call;
    }
    return item.kind === "result" && item.id === "" ? { ...item, id: close(item.name) } : item;
  };
  return { tools, turns: turns.map((turn): Turn => ({ ...turn, items: turn.items.map(complete) })) };
}

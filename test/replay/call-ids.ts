import type { Conversation, Item, Turn } from "./conversation.ts";

/**
 * Gives an id to each call and result that has none, since in the APIs of clients each has one. A result belongs to the
 * first call of its name that is open, or to the only one.
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

import { isIPv4, isIPv6 } from "node:net";

/** The addresses of proxies whose `x-forwarded-for` header is trusted. */
export interface TrustedProxies {
  has(address: string): boolean;
}

/**
 * Parses proxies given as addresses or CIDR ranges.
 * @throws RangeError for an entry that is neither, with the entry in its message.
 */
export function parseTrustedProxies(entries: readonly string[]): TrustedProxies {
  const ranges = entries.map((entry) => {
    const [address = "", bits] = entry.split("/");
    const value = toBits(address);
    const length = bits === undefined ? value?.length : Number(bits);
    if (value === null || length === undefined || !(length >= 0 && length <= value.length)) {
      throw new RangeError(`"${entry}" is neither an address nor a range such as 10.0.0.0/8`);
    }
    return value.slice(0, length) + (value.length === 32 ? "/4" : "/6");
  });
  return {
    has(address) {
      const value = toBits(address);
      if (value === null) return false;
      const family = value.length === 32 ? "/4" : "/6";
      return ranges.some((range) => range.endsWith(family) && value.startsWith(range.slice(0, -2)));
    },
  };
}

/**
 * Returns the client's address: the peer's, or, if the peer is a trusted proxy, the last in `x-forwarded-for` that is not
 * a trusted proxy (docs/contract.md, "Keys, money, limits").
 */
export function findClientAddress(
  peer: string,
  forwardedFor: string | null,
  proxies: TrustedProxies,
): string {
  let address = peer;
  const hops = forwardedFor?.split(",").map((hop) => hop.trim()) ?? [];
  while (proxies.has(address)) {
    const hop = hops.pop();
    if (hop === undefined || toBits(hop) === null) break;
    address = hop;
  }
  return address;
}

/** Returns what anonymous requests are counted by: an IPv4 address, or the /64 of an IPv6 address, which one site holds. */
export function limitKeyOf(address: string): string {
  const bits = toBits(address);
  return bits === null || bits.length === 32 ? plain(address) : BigInt(`0b${bits.slice(0, 64)}`).toString(16);
}

/** Maps `::ffff:1.2.3.4`, an IPv4 client on a dual-stack socket, to its IPv4 address. */
function plain(address: string): string {
  return /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(address)?.[1] ?? address;
}

function toBits(raw: string): string | null {
  const address = plain(raw.split("%")[0] as string);
  if (isIPv4(address))
    return address
      .split(".")
      .map((part) => Number(part).toString(2).padStart(8, "0"))
      .join("");
  if (!isIPv6(address)) return null;
  return expand(address)
    .map((group) => Number.parseInt(group, 16).toString(2).padStart(16, "0"))
    .join("");
}

/** Returns the eight groups of an IPv6 address. */
function expand(address: string): string[] {
  const dotted = /^(.*:)(\d+)\.(\d+)\.(\d+)\.(\d+)$/.exec(address);
  const text = dotted
    ? `${dotted[1]}${hexPair(dotted[2], dotted[3])}:${hexPair(dotted[4], dotted[5])}`
    : address;
  const [left = "", right] = text.split("::");
  const head = left === "" ? [] : left.split(":");
  if (right === undefined) return head;
  const tail = right === "" ? [] : right.split(":");
  return [...head, ...Array<string>(8 - head.length - tail.length).fill("0"), ...tail];
}

function hexPair(high: string | undefined, low: string | undefined): string {
  return (Number(high) * 256 + Number(low)).toString(16);
}

import { isIPv4, isIPv6 } from "node:net";

/** Addresses of proxies that may say for whom they speak. */
export interface TrustedProxies {
  has(address: string): boolean;
}

/**
 * Reads proxies given as addresses or CIDR ranges.
 * @throws RangeError that names the entry that is neither.
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
 * The client's address: the peer's, or, where the peer is a trusted proxy, the last in `x-forwarded-for` that is not
 * one itself (docs/contract.md, "Keys, money, limits").
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

/** What anonymous use is counted by: an IPv4 address, or the /64 of an IPv6 one, which one household holds. */
export function limitKeyOf(address: string): string {
  const bits = toBits(address);
  return bits === null || bits.length === 32 ? plain(address) : BigInt(`0b${bits.slice(0, 64)}`).toString(16);
}

/** `::ffff:1.2.3.4` is an IPv4 client on a dual-stack socket. */
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

/** The eight groups of an IPv6 address. */
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

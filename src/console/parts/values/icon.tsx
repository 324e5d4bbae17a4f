/** The paths of the icons, drawn with a stroke in a square of 16 units. */
const PATHS = {
  list: "M5.5 4h8M5.5 8h8M5.5 12h8M2.5 4h.01M2.5 8h.01M2.5 12h.01",
  chat: "M13.5 9.5a2 2 0 0 1-2 2h-5l-3 2.5v-2.5a2 2 0 0 1-1-1.7v-5a2 2 0 0 1 2-2h7a2 2 0 0 1 2 2z",
  box: "M8 1.8 13.5 5v6L8 14.2 2.5 11V5zM2.7 5.1 8 8l5.3-2.9M8 8v6",
  home: "M2.5 7.5 8 2.5l5.5 5M4 6.5v7h8v-7M6.5 13.5v-4h3v4",
  key: "M10.5 9a3.5 3.5 0 1 0-3.3-2.3L2.5 11.4v2.1h2.3v-1.7h1.7v-1.7L7.8 8.8A3.5 3.5 0 0 0 10.5 9zM11 5h.01",
  chart: "M2.5 13.5h11M4.5 11V8M8 11V3.5M11.5 11V6",
  wallet: "M2.5 5v7a1 1 0 0 0 1 1h9a1 1 0 0 0 1-1V6a1 1 0 0 0-1-1h-10a1 1 0 0 1 0-2h9M11 9h.01",
  gauge: "M2.5 11.5a5.5 5.5 0 1 1 11 0M8 11.5l2.5-4",
  people:
    "M6 8a2.5 2.5 0 1 0 0-5 2.5 2.5 0 0 0 0 5zM1.5 13.5c0-2.2 2-3.5 4.5-3.5s4.5 1.3 4.5 3.5M11 3.2a2.5 2.5 0 0 1 0 4.6M12.5 10.4c1.3.5 2 1.6 2 3.1",
  plug: "M5.5 2v3M10.5 2v3M3.5 5h9v2.5a4.5 4.5 0 0 1-9 0zM8 12v2.5",
  pulse: "M1.5 8.5h3l2-5 3 9 2-4h3",
  route:
    "M4 5.5a1.8 1.8 0 1 0 0-3.6 1.8 1.8 0 0 0 0 3.6zM12 14.1a1.8 1.8 0 1 0 0-3.6 1.8 1.8 0 0 0 0 3.6zM4 5.5v4a2.8 2.8 0 0 0 2.8 2.8h3.4M7 3.7h3.5A1.5 1.5 0 0 1 12 5.2v5.3",
  gear: "M8 10a2 2 0 1 0 0-4 2 2 0 0 0 0 4zM8 1.5v2M8 12.5v2M1.5 8h2M12.5 8h2M3.4 3.4l1.4 1.4M11.2 11.2l1.4 1.4M3.4 12.6l1.4-1.4M11.2 4.8l1.4-1.4",
  flag: "M3.5 14V2.5h8l-1.5 3 1.5 3h-8",
  shield: "M8 1.8 13 3.6v4.2c0 3-2.1 5.2-5 6.4-2.9-1.2-5-3.4-5-6.4V3.6zM5.8 8l1.6 1.6 2.9-3.2",
  search: "M7 11.5a4.5 4.5 0 1 0 0-9 4.5 4.5 0 0 0 0 9zM10.3 10.3l3.2 3.2",
  copy: "M5.5 5.5v-3h8v8h-3M2.5 5.5h8v8h-8z",
  check: "M3 8.5l3.5 3.5L13 4.5",
  close: "M4 4l8 8M12 4l-8 8",
  down: "M4 6l4 4 4-4",
  up: "M4 10l4-4 4 4",
  right: "M6 4l4 4-4 4",
  menu: "M2.5 4.5h11M2.5 8h11M2.5 11.5h11",
  sun: "M8 11a3 3 0 1 0 0-6 3 3 0 0 0 0 6zM8 1.5v1M8 13.5v1M1.5 8h1M13.5 8h1M3.4 3.4l.7.7M11.9 11.9l.7.7M3.4 12.6l.7-.7M11.9 4.1l.7-.7",
  moon: "M13.5 9.5A6 6 0 0 1 6.5 2.5a6 6 0 1 0 7 7z",
  screen: "M2 3h12v8H2zM5.5 13.5h5",
  exit: "M6.5 2.5h-4v11h4M10 5l3 3-3 3M13 8H6",
  alert: "M8 5.5v3M8 11h.01M8 2l6.5 11.5h-13z",
  plus: "M8 3v10M3 8h10",
  columns: "M2.5 3h11v10h-11zM6.2 3v10M9.8 3v10",
  download: "M8 2.5v7M5 7l3 3 3-3M2.5 13h11",
  pause: "M5.5 3.5v9M10.5 3.5v9",
  play: "M5 3.5v9l7.5-4.5z",
  refresh: "M13 8a5 5 0 1 1-1.5-3.6M13 2v3h-3",
  link: "M6.5 9.5l3-3M7 4.5l1.5-1.5a2.8 2.8 0 0 1 4 4L11 8.5M9 11.5 7.5 13a2.8 2.8 0 0 1-4-4L5 7.5",
  terminal: "M3 4.5 6.5 8 3 11.5M8 12h5",
  undo: "M5.5 3 2.5 6l3 3M2.5 6h7a4 4 0 0 1 0 8h-3",
  pencil: "M10.5 3l2.5 2.5L5.5 13H3v-2.5zM9 4.5 11.5 7",
  trash: "M2.5 4.5h11M6 4.5v-2h4v2M4 4.5l.7 9h6.6l.7-9M6.8 7v4M9.2 7v4",
  book: "M8 4.5C6.5 3.3 4.5 3 2.5 3v9.5c2 0 4 .3 5.5 1.5 1.5-1.2 3.5-1.5 5.5-1.5V3c-2 0-4 .3-5.5 1.5zM8 4.5V14",
  server: "M2.5 3h11v4h-11zM2.5 9h11v4h-11zM5 5h.01M5 11h.01",
  lock: "M3.5 7.5h9v6h-9zM5.5 7.5V5a2.5 2.5 0 0 1 5 0v2.5",
  more: "M3.5 8h.01M8 8h.01M12.5 8h.01",
} as const;

/** The name of an icon. */
export type IconName = keyof typeof PATHS;

/** An icon beside a text, hidden from assistive technology. */
export function Icon({ name, size = 16 }: { name: IconName; size?: number }) {
  return (
    <svg
      width={size}
      height={size}
      viewBox="0 0 16 16"
      fill="none"
      stroke="currentColor"
      stroke-width="1.4"
      stroke-linecap="round"
      stroke-linejoin="round"
      aria-hidden="true"
    >
      <path d={PATHS[name]} />
    </svg>
  );
}

/** The mark of the gateway. */
export function Mark() {
  return (
    <svg width="20" height="20" viewBox="0 0 16 16" aria-hidden="true">
      <rect width="16" height="16" rx="4" fill="currentColor" />
      <path
        d="M4 5.5h5.5M4 8h8M6.5 10.5H12"
        stroke="var(--bg-sub)"
        stroke-width="1.6"
        stroke-linecap="round"
      />
    </svg>
  );
}

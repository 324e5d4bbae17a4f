import { text } from "../../text/text.ts";

const TYPES = new Set(["image/png", "image/jpeg", "image/gif", "image/webp"]);
/** The maximum size of an image in bytes, and the maximum number of images in a message. */
const MAX_BYTES = 5 * 1024 * 1024;
export const MAX_IMAGES = 8;

/** The images that were read, and the problems of the others. */
interface ReadImages {
  readonly urls: readonly string[];
  readonly problems: readonly string[];
}

/** Reads image files as `data:` URLs. `room` is the number of images that the message can still take. */
export async function readImages(files: readonly File[], room: number): Promise<ReadImages> {
  const words = text.playground;
  const problems: string[] = [];
  const fit = files.filter(({ name, type, size }) => {
    if (!TYPES.has(type)) problems.push(words.imageType(name));
    else if (size > MAX_BYTES) problems.push(words.imageSize(name));
    return TYPES.has(type) && size <= MAX_BYTES;
  });
  if (fit.length > room) problems.push(words.imageCount);
  return { urls: await Promise.all(fit.slice(0, room).map(readFile)), problems };
}

function readFile(file: File): Promise<string> {
  return new Promise((resolve, reject) => {
    const reader = new FileReader();
    reader.onload = () => resolve(String(reader.result));
    reader.onerror = () => reject(reader.error);
    reader.readAsDataURL(file);
  });
}

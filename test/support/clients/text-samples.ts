import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { createSeededRandom } from "../seeded-random.ts";

/** The first article of the Universal Declaration of Human Rights. */
const ARTICLE_1: Readonly<Record<string, string>> = {
  english:
    "All human beings are born free and equal in dignity and rights. They are endowed with reason and conscience and should act towards one another in a spirit of brotherhood.",
  german:
    "Alle Menschen sind frei und gleich an Würde und Rechten geboren. Sie sind mit Vernunft und Gewissen begabt und sollen einander im Geist der Brüderlichkeit begegnen.",
  french:
    "Tous les êtres humains naissent libres et égaux en dignité et en droits. Ils sont doués de raison et de conscience et doivent agir les uns envers les autres dans un esprit de fraternité.",
  spanish:
    "Todos los seres humanos nacen libres e iguales en dignidad y derechos y, dotados como están de razón y conciencia, deben comportarse fraternalmente los unos con los otros.",
  finnish:
    "Kaikki ihmiset syntyvät vapaina ja tasavertaisina arvoltaan ja oikeuksiltaan. Heille on annettu järki ja omatunto, ja heidän on toimittava toisiaan kohtaan veljeyden hengessä.",
  polish:
    "Wszyscy ludzie rodzą się wolni i równi pod względem swej godności i swych praw. Są oni obdarzeni rozumem i sumieniem i powinni postępować wobec innych w duchu braterstwa.",
  turkish:
    "Bütün insanlar hür, haysiyet ve haklar bakımından eşit doğarlar. Akıl ve vicdana sahiptirler ve birbirlerine karşı kardeşlik zihniyeti ile hareket etmelidirler.",
  vietnamese:
    "Tất cả mọi người sinh ra đều được tự do và bình đẳng về nhân phẩm và quyền lợi. Mọi con người đều được tạo hoá ban cho lý trí và lương tâm và cần phải đối xử với nhau trong tình anh em.",
  russian:
    "Все люди рождаются свободными и равными в своем достоинстве и правах. Они наделены разумом и совестью и должны поступать в отношении друг друга в духе братства.",
  greek:
    "Όλοι οι άνθρωποι γεννιούνται ελεύθεροι και ίσοι στην αξιοπρέπεια και τα δικαιώματα. Είναι προικισμένοι με λογική και συνείδηση, και οφείλουν να συμπεριφέρονται μεταξύ τους με πνεύμα αδελφοσύνης.",
  hebrew:
    "כל בני האדם נולדו בני חורין ושווים בערכם ובזכויותיהם. כולם חוננו בתבונה ובמצפון, לפיכך חובה עליהם לנהוג איש ברעהו ברוח של אחווה.",
  arabic:
    "يولد جميع الناس أحرارًا متساوين في الكرامة والحقوق. وقد وهبوا عقلاً وضميرًا وعليهم أن يعامل بعضهم بعضًا بروح الإخاء.",
  hindi:
    "सभी मनुष्यों को गौरव और अधिकारों के मामले में जन्मजात स्वतन्त्रता और समानता प्राप्त है। उन्हें बुद्धि और अन्तरात्मा की देन प्राप्त है और परस्पर उन्हें भाईचारे के भाव से बर्ताव करना चाहिए।",
  thai: "มนุษย์ทั้งหลายเกิดมามีอิสระและเสมอภาคกันในเกียรติศักดิ์และสิทธิ ต่างมีเหตุผลและมโนธรรม และควรปฏิบัติต่อกันด้วยเจตนารมณ์แห่งภราดรภาพ",
  chinese: "人人生而自由，在尊严和权利上一律平等。他们赋有理性和良心，并应以兄弟关系的精神相对待。",
  japanese:
    "すべての人間は、生まれながらにして自由であり、かつ、尊厳と権利とについて平等である。人間は、理性と良心とを授けられており、互いに同胞の精神をもって行動しなければならない。",
  korean:
    "모든 인간은 태어날 때부터 자유로우며 그 존엄과 권리에 있어 동등하다. 인간은 천부적으로 이성과 양심을 부여받았으며 서로 형제애의 정신으로 행동하여야 한다.",
};

const ROOT = join(import.meta.dir, "../../..");
const GENERATED_CHARS = 12_000;

/** Returns typical texts by kind: languages, this repository's code and prose, and generated data. */
export function listTextSamples(): readonly (readonly [name: string, text: string])[] {
  const random = createSeededRandom(7);

  const bytes = Buffer.from(Array.from({ length: GENERATED_CHARS }, () => random.below(256)));
  const repeat = (make: (index: number) => string) => Array.from({ length: 600 }, (_, i) => make(i)).join("");
  return [
    ...Object.entries(ARTICLE_1),
    ["typescript", readFolder("src/core/generation", ".ts")],
    ["markdown", readFileSync(join(ROOT, "ARCHITECTURE.md"), "utf8")],
    ["json, dense", readFileSync(join(ROOT, "catalog/providers.json"), "utf8").replace(/\s+/g, " ")],
    [
      "json, indented",
      JSON.stringify(JSON.parse(readFileSync(join(ROOT, "catalog/providers.json"), "utf8")), null, 2),
    ],
    ["numbers", repeat((i) => `${(i * 7919) % 9973}.${(i * 104_729) % 99_991}, `)],
    [
      "log lines",
      repeat(
        (i) =>
          `2026-03-0${(i % 9) + 1}T10:${10 + (i % 50)}:07.${100 + i}Z INFO request ${i} took ${i * 3} ms\n`,
      ),
    ],
    [
      "uuids",
      repeat(
        (i) =>
          `${bytes.toString("hex", i * 8, i * 8 + 4)}-4${i % 10}1c-9a7f-${bytes.toString("hex", i * 8, i * 8 + 6)}\n`,
      ),
    ],
    ["emoji", repeat(() => random.pick(["😀", "🚀", "👩‍💻", "🇩🇪", "❤️", "🎉 ", "🧑🏽‍🚀"]))],
    ["base64", bytes.toString("base64")],
    ["hex", bytes.toString("hex")],
    ["spaces", "    ".repeat(2_000)],
    ["one letter", "a".repeat(8_000)],
  ];
}

function readFolder(folder: string, ending: string): string {
  const files = readdirSync(join(ROOT, folder)).filter((name) => name.endsWith(ending));
  return files.map((name) => readFileSync(join(ROOT, folder, name), "utf8")).join("\n");
}

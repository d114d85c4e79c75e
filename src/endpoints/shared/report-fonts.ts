/** The fonts of reports, and what they can draw. */
import { createRequire } from 'node:module';

export const PLAIN = 'Helvetica';
export const BOLD = 'Helvetica-Bold';
/** As wide as Helvetica, with more scripts. Embedded where needed only: every reader of PDF brings Helvetica along. */
export const WIDE = createRequire(import.meta.url).resolve('@expo-google-fonts/arimo/400Regular/Arimo_400Regular.ttf');
/** Helvetica has these, in the encoding WinAnsi. */
const IN_PLAIN = /^[\x20-\x7e\xa0-\xffŠšŽžŒœŸ€–—‘’“”„…]*$/;
/** Both fonts lack these, or they run from right to left. */
const UNDRAWN = /[^\x20-\x7e\xa0-\xff\p{Script=Latin}\p{Script=Greek}\p{Script=Cyrillic}€–—‘’“”„…]/gu;

/** The text with `?` for every character that no font has. */
export const drawable = (text: string) => text.normalize().replace(UNDRAWN, '?');

export const fontFor = (text: string, font = PLAIN) => (IN_PLAIN.test(text) ? font : WIDE);

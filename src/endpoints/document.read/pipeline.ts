/**
 * Pictures → lines of print → pages, the type of the document and its fields. Fields are found by their printed codes and
 * labels; what stands without one is not read, except the issuer of an invoice.
 */
import type { PipelineDefinition } from '../../inference/toolkit/pipeline.ts';
import { PRINT_READING } from '../../inference/toolkit/text/text-lines.ts';
import { createUprightTextReader } from '../../inference/toolkit/text/upright-text.ts';
import { MONTH_FIRST_COUNTRIES } from './document-words.ts';
import { findFields } from './find-fields.ts';
import { findIssues, findPage } from './find-page.ts';
import { type Layout, layOut } from './page-layout.ts';
import { onlyCurrency } from './parse-amount.ts';
import { monthFirstOf } from './parse-date.ts';
import { countCodes, recogniseCountry, recogniseType } from './recognise-document.ts';
import type { Parameters } from './request.ts';
import type { Result } from './result.ts';

/** Different dotted codes from which single letters are codes, too. */
const LEAST_CODES = 3;

export const pipeline: PipelineDefinition = {
  tasks: [PRINT_READING],
  create: (model) => {
    const readText = createUprightTextReader(model);
    return async ({ pictures, parameters }): Promise<Result> => {
      const { document_type_hint, country_hint } = parameters as Parameters;
      const result: Result = { document_type: null, country: null, pages: [], fields: [], issues: [] };
      const layouts: { layout: Layout; imageIndex: number }[] = [];
      for (const [imageIndex, each] of pictures.entries()) {
        const picture = await each.decode();
        const layout = layOut(await readText(picture));
        const isNamed = recogniseType(textsOf(layout), document_type_hint) !== null;
        const page = findPage(layout, imageIndex, picture, isNamed);
        if (!page) {
          result.issues.push({ reason: 'no_document', image_index: imageIndex, confidence: 0.9 });
          continue;
        }
        result.pages.push(page);
        result.issues.push(...findIssues(layout, imageIndex, picture));
        layouts.push({ layout, imageIndex });
      }
      const texts = layouts.flatMap(({ layout }) => textsOf(layout));
      if (texts.length === 0) return result;
      const type = recogniseType(texts, document_type_hint);
      const country = recogniseCountry(texts, country_hint);
      const assumedCountry = country?.value ?? country_hint ?? null;
      const reading = {
        type: type?.value ?? document_type_hint ?? null,
        hasCodes: type?.value === 'registration_certificate' || countCodes(texts) >= LEAST_CODES,
        monthFirst: monthFirstOf(texts) ?? (assumedCountry === null ? null : MONTH_FIRST_COUNTRIES.has(assumedCountry)),
        currency: onlyCurrency(texts),
      };
      const fields = layouts.flatMap(({ layout, imageIndex }) => findFields(layout, { ...reading, imageIndex }));
      return { ...result, document_type: type, country, fields };
    };
  },
};

function textsOf({ lines }: Layout): string[] {
  return lines.map(({ text }) => text);
}

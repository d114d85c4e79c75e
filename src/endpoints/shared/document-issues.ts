import type { DocumentIssue } from '../../contracts/vocabulary/documents.ts';
import type { RgbImage } from '../../inference/toolkit/images/rgb-image.ts';
import { findReadingIssues } from '../../inference/toolkit/quality/reading-issues.ts';
import type { PrintedLine } from '../../inference/toolkit/text/text-lines.ts';

/**
 * What stands in the way of reading a document or licence in one picture.
 * @param isFound whether the lines are those of the document; otherwise the picture shows none
 */
export function findDocumentIssues(
  picture: RgbImage,
  lines: readonly PrintedLine[],
  { imageIndex, isFound }: { imageIndex: number; isFound: boolean },
): DocumentIssue[] {
  const print = { read: isFound ? lines.map(({ quad }) => quad) : [], lines };
  const issues = findReadingIssues(picture, print, isFound ? null : 'no_document');
  return issues.map((issue) => ({ ...issue, image_index: imageIndex }));
}

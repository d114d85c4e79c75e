import { Text } from '@mantine/core';
import { type Fact, findFacts } from '../find-facts.ts';
import { capitalised } from '../format.ts';

/** What a result says in words, beside the picture that shows where. */
export function ResultFacts({ result }: { result: unknown }) {
  const facts = findFacts(result);
  if (facts.length === 0) return null;
  return (
    <section aria-label="What the result says">
      <dl className="result-facts">
        {facts.map((fact) => (
          <div key={fact.name}>
            <dt>{capitalised(fact.name)}</dt>
            <dd>
              <Said fact={fact} />
            </dd>
          </div>
        ))}
      </dl>
    </section>
  );
}

function Said({ fact: { text, confidence, facts } }: { fact: Fact }) {
  return (
    <>
      {capitalised(text)}
      {confidence !== null && (
        <Text span c="dimmed" size="sm">
          {' '}
          {Math.round(confidence * 100)} %
        </Text>
      )}
      {facts.length > 0 && (
        <ul>
          {facts.map((fact, index) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: the items of a result never move
            <li key={index}>
              {fact.name !== '' && `${capitalised(fact.name)}: `}
              <Said fact={fact} />
            </li>
          ))}
        </ul>
      )}
    </>
  );
}

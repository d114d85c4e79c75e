/**
 * What the pages gain from a script: copy buttons, tabs for languages, results while somebody types, and a form that runs an
 * example. Without it every page is complete. A test key that is typed in stays in this page's memory.
 */
(() => {
  const LANGUAGE = 'docs-language';
  const TYPING_PAUSE_MS = 150;

  function element(name, attributes = {}, ...children) {
    const made = document.createElement(name);
    for (const [attribute, value] of Object.entries(attributes)) made.setAttribute(attribute, value);
    made.append(...children);
    return made;
  }

  function stored(value) {
    try {
      if (value !== undefined) localStorage.setItem(LANGUAGE, value);
      return localStorage.getItem(LANGUAGE);
    } catch {
      // A browser may refuse storage: the choice then lasts for this page.
      return value ?? null;
    }
  }

  function addCopyButtons() {
    for (const pre of document.querySelectorAll('article pre')) {
      const frame = element('div', { class: 'code' });
      const button = element('button', { type: 'button', 'aria-label': 'Copy' }, 'Copy');
      pre.replaceWith(frame);
      frame.append(pre, button);
      // Reachable by keyboard where it scrolls.
      pre.tabIndex = 0;
      button.addEventListener('click', async () => {
        await navigator.clipboard.writeText(pre.textContent.trimEnd());
        button.textContent = 'Copied';
        setTimeout(() => {
          button.textContent = 'Copy';
        }, 2_000);
      });
    }
  }

  function addTabs() {
    const groups = [...document.querySelectorAll('.languages')].map((group, index) => {
      const panels = [...group.children];
      const list = element('div', { role: 'tablist', 'aria-label': 'Language' });
      const tabs = panels.map((panel, position) => {
        const id = `language-${index}-${position}`;
        const tab = element('button', { type: 'button', role: 'tab', id, 'aria-controls': `${id}-panel` });
        tab.textContent = panel.dataset.language;
        panel.id = `${id}-panel`;
        panel.setAttribute('role', 'tabpanel');
        panel.setAttribute('aria-labelledby', id);
        tab.addEventListener('click', () => choose(tab.textContent));
        return tab;
      });
      list.append(...tabs);
      list.addEventListener('keydown', (event) => {
        const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
        if (step === undefined) return;
        const next = tabs[(tabs.indexOf(event.target) + step + tabs.length) % tabs.length];
        choose(next.textContent);
        next.focus();
      });
      group.prepend(list);
      group.classList.add('tabs');
      return { tabs, panels };
    });

    function show(language) {
      for (const { tabs, panels } of groups) {
        const chosen = Math.max(
          0,
          panels.findIndex((panel) => panel.dataset.language === language),
        );
        for (const [position, tab] of tabs.entries()) {
          tab.setAttribute('aria-selected', String(position === chosen));
          tab.tabIndex = position === chosen ? 0 : -1;
          panels[position].hidden = position !== chosen;
        }
      }
    }

    function choose(language) {
      stored(language);
      show(language);
    }

    show(stored());
  }

  function addSuggestions() {
    const form = document.querySelector('[role="search"]');
    const input = form.querySelector('input');
    const list = element('ul');
    const box = element(
      'div',
      { class: 'suggestions', role: 'region', 'aria-label': 'Results', 'aria-live': 'polite' },
      list,
    );
    box.hidden = true;
    form.append(box);
    let asked = '';
    let timer;

    async function ask() {
      const query = input.value.trim();
      asked = query;
      if (query.length < 2) {
        box.hidden = true;
        return;
      }
      const response = await fetch(`/docs/search?q=${encodeURIComponent(query)}`, {
        headers: { Accept: 'application/json' },
      });
      // An answer to what was typed before is late.
      if (!response.ok || asked !== query) return;
      const { results } = await response.json();
      list.replaceChildren(
        ...results
          .slice(0, 8)
          .map(({ path, title, heading, excerpt }) =>
            element(
              'li',
              {},
              element('a', { href: path }, heading ? `${title}: ${heading}` : title),
              element('br'),
              element('small', {}, excerpt),
            ),
          ),
      );
      if (results.length === 0) list.append(element('li', {}, 'Nothing was found.'));
      box.hidden = false;
    }

    input.addEventListener('input', () => {
      clearTimeout(timer);
      timer = setTimeout(() => void ask().catch(() => {}), TYPING_PAUSE_MS);
    });
    form.addEventListener('keydown', (event) => {
      if (event.key !== 'Escape' || box.hidden) return;
      // A browser would empty the field.
      event.preventDefault();
      box.hidden = true;
      input.focus();
    });
    form.addEventListener('focusout', (event) => {
      if (!form.contains(event.relatedTarget)) box.hidden = true;
    });
    document.addEventListener('keydown', (event) => {
      const isTyping = event.target instanceof HTMLElement && event.target.closest('input, textarea, select');
      if (event.key !== '/' || isTyping || event.ctrlKey || event.metaKey) return;
      event.preventDefault();
      input.focus();
    });
  }

  /** Runs the example of the page in test mode, with the visitor's test key. */
  function addTrial(place) {
    const request = JSON.parse(place.dataset.request);
    const key = element('input', {
      name: 'key',
      type: 'password',
      autocomplete: 'off',
      required: '',
      pattern: '\\s*chk_test_\\w+\\s*',
      title: 'A test key begins with chk_test_',
      placeholder: 'chk_test_…',
    });
    const button = element('button', { type: 'submit' }, 'Run it here');
    const status = element('p', { role: 'status' });
    const form = element(
      'form',
      { 'aria-label': 'Run the example' },
      element('label', {}, 'Test key', key),
      button,
      status,
    );
    const output = element('div');
    place.append(form, output);
    form.addEventListener('submit', async (event) => {
      event.preventDefault();
      button.disabled = true;
      status.textContent = 'Running …';
      output.replaceChildren();
      try {
        const response = await send(request, key.value.trim());
        const answer = await response.json();
        status.replaceChildren(...summaryOf(response.status, answer));
        output.append(
          element(
            'pre',
            { tabindex: '0', 'aria-label': 'Response' },
            element('code', {}, JSON.stringify(answer, null, 2)),
          ),
        );
      } catch {
        status.textContent = 'There was no response. Is the service running?';
      } finally {
        button.disabled = false;
      }
    });
  }

  async function send({ path, field, files, parameters }, key) {
    const headers = { Authorization: `Bearer ${key}` };
    if (files.length === 0) {
      headers['Content-Type'] = 'application/json';
      return fetch(`${path}?wait=true`, { method: 'POST', headers, body: JSON.stringify(parameters) });
    }
    const body = new FormData();
    for (const file of files)
      body.append(field, await (await fetch(file)).blob(), file.slice(file.lastIndexOf('/') + 1));
    for (const [name, value] of Object.entries(parameters)) {
      const texts = Array.isArray(value) && value.every((item) => typeof item === 'string') ? value : [value];
      for (const text of texts) body.append(name, typeof text === 'string' ? text : JSON.stringify(text));
    }
    return fetch(`${path}?wait=true`, { method: 'POST', headers, body });
  }

  function summaryOf(status, answer) {
    if (!answer.error || answer.object === 'job') {
      return [`${answer.status}: ${answer.id}, ${answer.credits.charged} test credits.`];
    }
    const { code, message } = answer.error;
    return [`${status} `, element('a', { href: `/docs/errors/${code}` }, code), `: ${message}`];
  }

  document.addEventListener('DOMContentLoaded', () => {
    addTabs();
    addCopyButtons();
    addSuggestions();
    for (const place of document.querySelectorAll('.trial')) addTrial(place);
  });
})();

// What a reader sees of a page: evaluated in the browser by browser.go, which says what should be there.
(() => {
	const visible = e => {
		const r = e.getBoundingClientRect();
		return r.width > 0 && r.height > 0 && getComputedStyle(e).visibility === 'visible';
	};
	const section = e => e.closest('section')?.id ?? '';
	const page = document.documentElement;

	// Relative luminance and contrast, as WCAG 2.1 defines them.
	const rgba = c => c.match(/[\d.]+/g).map(Number);
	const luminance = c => {
		const [r, g, b] = c.map(v => v / 255).map(v => v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4);
		return 0.2126 * r + 0.7152 * g + 0.0722 * b;
	};
	const holds = (a, b) => a.left <= b.left && b.right <= a.right && a.top <= b.bottom && b.top <= a.bottom;
	const ground = e => {
		if (e.tagName === 'text') { // of a chart: on the area drawn last before it, as names in bars are
			const place = e.getBoundingClientRect();
			const parts = [...e.ownerSVGElement.querySelectorAll('path,text')];
			for (let i = parts.indexOf(e) - 1; i >= 0; i--)
				if (getComputedStyle(parts[i]).fill !== 'none' && parts[i].tagName === 'path' && holds(parts[i].getBoundingClientRect(), place)) return rgba(getComputedStyle(parts[i]).fill);
		}
		for (; e; e = e.parentElement) {
			const c = rgba(getComputedStyle(e).backgroundColor);
			if (c.length < 4 || c[3] === 1) return c;
		}
		return [255, 255, 255];
	};
	const contrast = e => {
		const style = getComputedStyle(e);
		const a = luminance(rgba(e.closest('svg') ? style.fill : style.color)), b = luminance(ground(e));
		return (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
	};
	const faint = new Map();
	const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
	while (texts.nextNode()) {
		const e = texts.currentNode.parentElement, text = texts.currentNode.data.trim();
		if (text && visible(e) && contrast(e) < 4.5) faint.set(e.tagName + '.' + (e.getAttribute('class') ?? ''), text.slice(0, 40));
	}

	const scaled = svg => svg.getBoundingClientRect().width / svg.viewBox.baseVal.width;
	return {
		charts: [...document.querySelectorAll('svg.chart')].filter(visible).map(e => ({
			section: section(e),
			figure: e.closest('figure')?.id ?? '',
			label: e.getAttribute('aria-label') ?? '',
			width: e.getBoundingClientRect().width,
			height: e.getBoundingClientRect().height,
			letters: scaled(e) * Math.min(...[...e.querySelectorAll('text')].map(t => parseFloat(t.getAttribute('font-size')))),
			colours: new Set([...e.querySelectorAll('path,text')].map(p => getComputedStyle(p).stroke + getComputedStyle(p).fill)).size,
		})),
		tables: [...document.querySelectorAll('table')].filter(visible).map(e => ({
			section: section(e),
			rows: [...e.querySelectorAll('tbody tr')].filter(visible).filter(r => !r.querySelector('.group')).length,
			width: e.getBoundingClientRect().width,
			clipped: e.closest('.box')?.scrollWidth > e.closest('.box')?.clientWidth + 1,
			boxed: e.closest('.box')?.getBoundingClientRect().right <= page.clientWidth + 0.5,
		})),
		sections: [...document.querySelectorAll('section')].filter(visible).map(e => e.id),
		headings: [...document.querySelectorAll('h1,h2,h3,h4,h5,h6')].map(e => Number(e.tagName[1])),
		language: page.lang,
		overflow: page.scrollWidth - page.clientWidth,
		beyond: [...document.querySelectorAll('body *')].filter(e => !e.closest('.box,svg') && visible(e) && e.getBoundingClientRect().right > page.clientWidth + 0.5)
			.map(e => e.tagName.toLowerCase() + ' in ' + section(e)),
		spilled: [...document.querySelectorAll('.key div')].filter(e => visible(e) && e.scrollWidth > e.clientWidth).map(e => e.textContent.trim()),
		faint: [...faint].map(([where, text]) => where + ': ' + text),
		ground: luminance(ground(document.body)),
	};
})()

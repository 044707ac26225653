// Where things of a page are, for interact.go, which points at them: read from what is drawn, not from the page's script.
({
	// openFolds opens every folded section and returns how many there are.
	openFolds() { const folds = [...document.querySelectorAll('details')]; for (const d of folds) d.open = true; return folds.length; },
	shown: e => e.getClientRects().length > 0,
	picture(figure) { return [...document.querySelectorAll('#' + figure + ' svg.chart')].find(this.shown); },
	// absolute returns the points of a path that are absolute, in pixels of the window.
	absolute(svg, path) {
		const box = svg.viewBox.baseVal, r = svg.getBoundingClientRect();
		return [...path.getAttribute('d').matchAll(/[ML](-?[\d.]+) (-?[\d.]+)/g)].map(m => [r.left + (m[1] - box.x) * r.width / box.width, r.top + (m[2] - box.y) * r.height / box.height]);
	},
	// plotted returns the first figures of which every series has as many glyphs as values, and the last: places and values of its series.
	plotted() {
		for (const figure of document.querySelectorAll('figure[data-values]')) {
			const svg = this.picture(figure.id), panel = JSON.parse(figure.dataset.values)[0];
			if (!svg || panel.series.length < 2 || svg.querySelector('g.axes').dataset.y.split(' ')[2] !== 'log') continue;
			const parts = [...svg.querySelectorAll('g[data-series]:not(.entry)')];
			const series = panel.series.map(s => {
				const g = parts.find(p => p.dataset.series === s.name), glyphs = [...g.querySelectorAll('path')].at(-1);
				return { name: s.name, values: s.points.map(v => v.map(Number)), places: this.absolute(svg, glyphs), shown: this.shown(glyphs) };
			});
			if (series.some(s => s.values.length !== s.places.length || s.values.length < 3)) continue;
			if (series.some(s => Math.max(...s.values.map(v => v[1])) < 2 * Math.min(...s.values.map(v => v[1])))) continue; // too flat to see anything move
			const entry = [...svg.querySelectorAll('g.entry')].find(e => e.dataset.series === series[0].name), r = entry.getBoundingClientRect();
			const button = [...figure.querySelectorAll('button')].find(b => b.textContent === 'Log y')?.getBoundingClientRect() ?? r;
			const lanes = [...svg.querySelectorAll('g.lanes path')].map(p => { const xs = this.absolute(svg, p).map(q => q[0]); return Math.max(...xs) - Math.min(...xs); });
			const seen = [...svg.querySelectorAll('g.lanes path')].some(p => { const box = p.getBoundingClientRect(), view = svg.getBoundingClientRect(); return document.elementFromPoint((Math.max(box.left, view.left) + Math.min(box.right, view.right)) / 2, box.top + box.height / 2) === p; });
			return { figure: figure.id, series, lanes, seen, entry: [r.left + r.width / 2, r.top + r.height / 2], pressed: entry.getAttribute('aria-pressed') ?? '', button: [button.left + button.width / 2, button.top + button.height / 2], said: this.said(figure) };
		}
		return null;
	},
	// timed returns the first time line: the widths of its steps.
	timed() {
		const zoomed = [...document.querySelectorAll('g.zoom')].find(this.shown);
		if (!zoomed) return null;
		const figure = zoomed.closest('figure'), svg = zoomed.ownerSVGElement;
		const widths = [...svg.querySelectorAll('g.zoom [data-tip] path:first-child')].map(p => { const xs = this.absolute(svg, p).map(q => q[0]); return Math.max(...xs) - Math.min(...xs); });
		const button = [...figure.querySelectorAll('button')].find(b => b.textContent === 'Zoom in')?.getBoundingClientRect() ?? { left: 0, top: 0, width: 0, height: 0 };
		return { figure: figure.id, widths, button: [button.left + button.width / 2, button.top + button.height / 2], said: this.said(figure) };
	},
	said(figure) { const tip = figure.querySelector('.tip'); return tip && this.shown(tip) ? tip.textContent : ''; },
})

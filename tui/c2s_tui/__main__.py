from c2s_tui import main

raise SystemExit(main())

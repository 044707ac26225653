void finish(int errors);

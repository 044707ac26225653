// Callbacks of attributes that delete, set and copy attributes.
#include <mpi.h>
#include <stdio.h>
static int k[5], deleted;
static int again(MPI_Comm c, int key, void *v, void *e) { // deletes itself, which calls it again
	if (deleted++ == 0) MPI_Comm_delete_attr(c, key);
	return MPI_SUCCESS;
}
static int set(MPI_Comm c, int key, void *v, void *e) {
	if (deleted++ == 0) MPI_Comm_set_attr(c, k[3], &deleted);
	return MPI_SUCCESS;
}
static int all(MPI_Comm c, int key, void *v, void *e) {
	for (int i = 0; i < 3; i++) MPI_Comm_delete_attr(c, k[i]);
	deleted++;
	return MPI_SUCCESS;
}
static int copy(MPI_Comm c, int key, void *e, void *v, void *to, int *flag) {
	int x = 1, y;
	MPI_Comm_delete_attr(c, k[0]);
	MPI_Comm_delete_attr(c, k[2]);
	*(void **)to = v;
	*flag = 1;
	MPI_Allreduce(&x, &y, 1, MPI_INT, (MPI_Op)e, MPI_COMM_SELF); // a callback in a callback
	return MPI_SUCCESS;
}
static void add(void *in, void *out, int *n, MPI_Datatype *t) {
	for (int i = 0; i < *n; i++) ((int *)out)[i] += ((int *)in)[i];
}
int main(int c, char **v) {
	MPI_Comm d, x;
	MPI_Op op;
	int flag;
	void *value;
	MPI_Init(&c, &v);
	MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
	MPI_Op_create(add, 1, &op);
	MPI_Comm_create_keyval(MPI_COMM_DUP_FN, MPI_COMM_NULL_DELETE_FN, &k[0], 0);
	MPI_Comm_create_keyval(copy, again, &k[1], op);
	MPI_Comm_create_keyval(MPI_COMM_DUP_FN, MPI_COMM_NULL_DELETE_FN, &k[2], 0);
	MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, set, &k[3], 0);
	MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, all, &k[4], 0);
	MPI_Comm_dup(MPI_COMM_WORLD, &d);
	MPI_Comm_set_errhandler(d, MPI_ERRORS_RETURN);
	for (int i = 0; i < 3; i++) MPI_Comm_set_attr(d, k[i], &k[i]);
	MPI_Comm_dup(d, &x);
	MPI_Comm_get_attr(x, k[1], &value, &flag);
	if (!flag || value != &k[1]) printf("the attribute was not copied\n");
	MPI_Comm_get_attr(d, k[2], &value, &flag);
	if (flag) printf("an attribute is still there\n");
	deleted = 0;
	if (MPI_Comm_delete_attr(d, k[1]) || deleted != 2) printf("deleted %d times\n", deleted);
	MPI_Comm_set_attr(d, k[3], &k[3]);
	deleted = 0;
	MPI_Comm_set_attr(d, k[3], &k[2]);
	MPI_Comm_get_attr(d, k[3], &value, &flag);
	if (!flag || value != &k[2]) printf("the attribute has another value\n");
	MPI_Comm_free(&d);
	for (int i = 0; i < 5; i++)
		if (i != 3) MPI_Comm_set_attr(x, k[i], &k[i]);
	MPI_Comm_free(&x);
	printf("ok\n");
	MPI_Finalize();
	return 0;
}

"""Tell what owners can delete, how it is restored, and how it is destroyed at last."""
